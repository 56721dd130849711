// Runs taken turn by turn, and the environment for players.
#include <optional>

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "core/convert.h"
#include "core/environment.h"
#include "core/parts.h"
#include "core/policy_loader.h"
#include "core/trace.h"
#include "core/turns.h"
#include "core/views.h"
#include "report/summary_json.h"
#include "run/assembly/recorded_run.h"

namespace muster::python {
namespace {

// Memory of a NumPy array that may be written to.
template <typename T>
class Room {
 public:
  explicit Room(nb::handle value) {
    if (PyObject_GetBuffer(value.ptr(), &buffer_, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0) {
      throw nb::python_error();
    }
  }
  ~Room() { PyBuffer_Release(&buffer_); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  T* begin() const { return static_cast<T*>(buffer_.buf); }
  std::size_t size() const { return static_cast<std::size_t>(buffer_.len) / sizeof(T); }

 private:
  Py_buffer buffer_{};
};

std::unique_ptr<Environment> make(const nb::dict& settings, const TraceJobs* trace,
                                  std::size_t window, double latency, bool lengths,
                                  double reward_scale) {
  RunConfig config = described(settings, {});
  if (trace != nullptr) {
    config.workload = trace->origin.value_or(WorkloadConfig{});
    if (!trace->origin) config.workload.trace = "in memory";
  }
  return std::make_unique<Environment>(std::move(config), trace == nullptr ? nullptr : trace->jobs,
                                       EnvironmentOptions{window, latency, lengths, reward_scale});
}

void check_room(const Environment& environment, const Room<float>& room, std::size_t count) {
  if (room.size() != count * environment.features()) {
    raise(Error{"the array for observations has the wrong size"});
  }
}

nb::tuple step(Environment& environment, long long action, nb::handle observation) {
  environment.check(action);
  const Environment::Step taken = environment.step(static_cast<std::size_t>(action));
  const Room<float> room(observation);
  check_room(environment, room, 1);
  environment.observe(room.begin());
  return nb::make_tuple(taken.reward, taken.over);
}

// One step of several environments. Where an episode is over, the next step begins another.
void step_all(const std::vector<Environment*>& all, nb::handle actions, nb::handle seeds,
              nb::handle observations, nb::handle rewards, nb::handle ends) {
  const Numbers<std::int64_t> action(actions);
  const Room<std::int64_t> seed(seeds);
  const Room<float> observed(observations);
  const Room<double> reward(rewards);
  const Room<char> over(ends);
  if (action.size() != all.size() || seed.size() != all.size() || reward.size() != all.size() ||
      over.size() != all.size()) {
    raise(Error{"expected one action for each environment"});
  }
  if (all.empty()) return;
  check_room(*all.front(), observed, all.size());
  // Before any of them has moved.
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (over.begin()[i] == 0) all[i]->check(action[i]);
  }
  const nb::gil_scoped_release release;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Environment& one = *all[i];
    if (over.begin()[i] != 0) {
      one.reset(seed.begin()[i]++);
      reward.begin()[i] = 0;
      over.begin()[i] = 0;
    } else {
      const Environment::Step taken = one.step(static_cast<std::size_t>(action[i]));
      reward.begin()[i] = taken.reward;
      over.begin()[i] = taken.over ? 1 : 0;
    }
    one.observe(observed.begin() + i * one.features());
  }
}

// A run and the views that Python has of it; they end with the next turn.
class Steps {
 public:
  explicit Steps(std::unique_ptr<TurnByTurn> run) : run_(std::move(run)) {}
  ~Steps() { close(); }

  bool turn(const std::vector<std::uint32_t>* order) {
    close();
    std::vector<JobId> ids;
    if (order != nullptr) {
      for (const std::uint32_t id : *order) ids.push_back(JobId{id});
    }
    return told([&] {
      const nb::gil_scoped_release release;
      return run_->turn(order == nullptr ? nullptr : &ids);
    });
  }
  // Turns until the next one would come after `until`; Ctrl-C is looked for now and then.
  bool run(double until) {
    close();
    constexpr int kTurns = 500;
    while (!run_->over() && run_->engine().now() < until) {
      told([&] {
        const nb::gil_scoped_release release;
        for (int i = 0; i < kTurns && !run_->over() && run_->engine().now() < until; ++i) {
          run_->turn();
        }
        return true;
      });
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    return !run_->over();
  }
  void use(nb::handle scheduling) {
    close();
    const TomlNode node = toml_at("scheduling", toml_of(scheduling, "scheduling"));
    RunConfig config;
    must(apply_toml(config, node, "scheduling"));
    run_->use(config.scheduling);
    // An engine asks its policies once what they do: the copy asks the new one.
    run_ = forked();
  }
  std::unique_ptr<Steps> fork() { return std::make_unique<Steps>(forked()); }

  nb::object jobs() {
    if (!view_) {
      view_.emplace(run_->engine().view());
      for (const Slot slot : run_->engine().jobs().active()) slots_.push_back(slot);
      jobs_ = nb::cast(JobsView(*view_, slots_, &run_->symbols()));
    }
    return jobs_;
  }
  nb::object cluster() {
    if (!cluster_.is_valid()) {
      cluster_ = nb::cast(ClusterView(run_->engine().cluster(), &run_->symbols(), 0));
    }
    return cluster_;
  }
  const TurnByTurn& run() const { return *run_; }

 private:
  std::unique_ptr<TurnByTurn> forked() {
    std::unique_ptr<TurnByTurn> copy;
    told([&] {
      const nb::gil_scoped_release release;
      copy = run_->fork();
      return true;
    });
    return copy;
  }
  // What a policy written in Python raised is the cause of what is raised here.
  template <typename Work>
  bool told(const Work& work) {
    try {
      return work();
    } catch (const MusterError&) {
      if (const auto* loader = dynamic_cast<const PythonLoader*>(run_->loader())) {
        loader->calls()->raise_failure();
      }
      throw;
    }
  }
  void close() {
    if (jobs_.is_valid()) nb::inst_ptr<JobsView>(jobs_)->close();
    if (cluster_.is_valid()) nb::inst_ptr<ClusterView>(cluster_)->close();
    jobs_.reset();
    cluster_.reset();
    view_.reset();
    slots_.clear();
  }

  std::unique_ptr<TurnByTurn> run_;
  std::optional<View> view_;
  std::vector<Slot> slots_;
  nb::object jobs_;
  nb::object cluster_;
};

nb::list decisions_of(const Steps& steps) {
  nb::list list;
  for (const Decision& one : steps.run().decisions()) {
    const auto number = [](JobId job) {
      return job == kNoJob ? nb::object(nb::none()) : nb::cast(index(job));
    };
    nb::dict row;
    row["time_s"] = one.time;
    row["action"] = std::string(action_name(one.action));
    row["job"] = number(one.job);
    row["gpus"] = one.gpus;
    row["reason"] = std::string(reason_name(one.reason));
    row["other"] = number(one.other);
    list.append(row);
  }
  return list;
}

void add_turns(nb::module_& module) {
  nb::class_<Steps>(module, "Steps")
      .def(
          "__init__",
          [](Steps* self, const RunConfig& config, const TraceJobs* trace) {
            new (self) Steps(
                std::make_unique<TurnByTurn>(config, trace == nullptr ? nullptr : trace->jobs));
          },
          nb::arg("description"), nb::arg("trace").none())
      .def(
          "turn",
          [](Steps& steps, nb::handle order) {
            if (order.is_none()) return steps.turn(nullptr);
            const auto ids = nb::cast<std::vector<std::uint32_t>>(order);
            return steps.turn(&ids);
          },
          nb::arg("order").none())
      .def("run", nb::overload_cast<double>(&Steps::run))
      .def("use", &Steps::use)
      .def("fork", &Steps::fork)
      .def("jobs", &Steps::jobs)
      .def("cluster", &Steps::cluster)
      .def("decisions", decisions_of)
      .def_prop_ro("now", [](const Steps& steps) { return steps.run().engine().now(); })
      .def_prop_ro("turns", [](const Steps& steps) { return steps.run().engine().turns(); })
      .def_prop_ro("left", [](const Steps& steps) { return steps.run().engine().left(); })
      .def_prop_ro("arrived", [](const Steps& steps) { return steps.run().engine().arrived(); })
      .def_prop_ro("over", [](const Steps& steps) { return steps.run().over(); })
      .def("summary", [](const Steps& steps) {
        return summary_to_json({RunInfo{}, steps.run().summary(), steps.run().over(), ""});
      });
}

}  // namespace

void add_stepping(nb::module_& module) {
  nb::class_<Environment>(module, "Environment")
      .def("reset",
           [](Environment& self, long long seed, nb::handle observation) {
             self.reset(seed);
             const Room<float> room(observation);
             check_room(self, room, 1);
             self.observe(room.begin());
           })
      .def("step", step)
      .def("mask",
           [](const Environment& self) {
             std::vector<char> actions(self.window() + 1);
             self.mask(actions.data());
             return bytes_of(actions);
           })
      .def_prop_ro("features", &Environment::features)
      .def_prop_ro("over", &Environment::over)
      .def_prop_ro("now", &Environment::now)
      .def("summary", [](const Environment& self) {
        return summary_to_json({RunInfo{}, self.summary(), self.over(), ""});
      });
  module.def("make_environment", make, nb::arg("settings"), nb::arg("trace").none(),
             nb::arg("window"), nb::arg("latency"), nb::arg("lengths"), nb::arg("reward_scale"));
  module.def("step_all", step_all);
  add_turns(module);
}

}  // namespace muster::python
