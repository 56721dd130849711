// Runs taken turn by turn.
#include <optional>

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "core/busy.h"
#include "core/convert.h"
#include "core/parts.h"
#include "core/policy_loader.h"
#include "core/trace.h"
#include "core/turns.h"
#include "core/views.h"
#include "core/watched.h"
#include "report/summary_json.h"
#include "run/assembly/recorded_run.h"

namespace muster::python {
namespace {

// A run and the views that Python has of it; they end with the next turn.
class Steps {
 public:
  // `calls` are those of policies written in Python, if the run has some.
  Steps(std::unique_ptr<TurnByTurn> run, std::shared_ptr<PolicyCalls> calls, double time_limit)
      : run_(std::move(run)), calls_(std::move(calls)), time_limit_(time_limit) {}
  ~Steps() { close(); }

  bool turn(const std::vector<std::uint32_t>* order) {
    const Busy::Inside inside(busy_);
    close();
    std::vector<JobId> ids;
    if (order != nullptr) {
      for (const std::uint32_t id : *order) ids.push_back(JobId{id});
    }
    told([&](const Watch&) { run_->turn(order == nullptr ? nullptr : &ids); });
    return !run_->over();
  }
  // Turns until the next one would come after `until`, or Ctrl-C.
  bool run(double until) {
    const Busy::Inside inside(busy_);
    close();
    told(
        [&](const Watch& watch) {
          while (watch.keep_going() && !run_->over() && run_->engine().now() < until) run_->turn();
        },
        true);
    return !run_->over();
  }
  void use(nb::handle scheduling) {
    const Busy::Inside inside(busy_);
    close();
    const TomlNode node = toml_at("scheduling", toml_of(scheduling, "scheduling"));
    RunConfig config = run_->config();
    must(apply_toml(config, node, "scheduling"));
    run_->use(config.scheduling);
    if (calls_ == nullptr) calls_ = python_calls(config);
    // An engine asks its policies once what they do: the copy asks the new one.
    run_ = forked();
  }
  std::unique_ptr<Steps> fork() {
    const Busy::Inside inside(busy_);
    return std::make_unique<Steps>(forked(), calls_, time_limit_);
  }

  nb::object jobs() {
    const Busy::Inside inside(busy_);
    if (!view_) {
      view_.emplace(run_->engine().view());
      for (const Slot slot : run_->engine().jobs().active()) slots_.push_back(slot);
      jobs_ = nb::cast(JobsView(*view_, slots_, &run_->symbols()));
    }
    return jobs_;
  }
  nb::object cluster() {
    const Busy::Inside inside(busy_);
    if (!cluster_.is_valid()) {
      cluster_ = nb::cast(ClusterView(run_->engine().cluster(), &run_->symbols(), 0));
    }
    return cluster_;
  }
  // What `look` says of the run, while nobody changes it.
  template <typename Look>
  auto seen(const Look& look) {
    const Busy::Inside inside(busy_);
    return look(static_cast<const TurnByTurn&>(*run_));
  }

 private:
  std::unique_ptr<TurnByTurn> forked() {
    std::unique_ptr<TurnByTurn> copy;
    told([&](const Watch&) { copy = run_->fork(); });
    return copy;
  }
  // Policies written in Python are asked by a thread of its own: Ctrl-C then is for this one, and a
  // call that never returns can be ended. What they raised is the cause of what is raised here.
  template <typename Work>
  void told(const Work& work, bool may_be_long = false) {
    Watch watch;
    try {
      if (calls_ == nullptr && !may_be_long) {
        const nb::gil_scoped_release release;
        work(watch);
        return;
      }
      constexpr double kGrace = 1;  // the turn that Ctrl-C found is taken to its end
      std::vector<std::shared_ptr<PolicyCalls>> calls;
      if (calls_ != nullptr) calls.push_back(calls_);
      watched(watch, {nb::none(), time_limit_, calls, kGrace}, [&] { work(watch); });
    } catch (const MusterError&) {
      if (calls_ != nullptr) calls_->raise_failure();
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
  std::shared_ptr<PolicyCalls> calls_;
  double time_limit_;
  Busy busy_;
  std::optional<View> view_;
  std::vector<Slot> slots_;
  nb::object jobs_;
  nb::object cluster_;
};

nb::list decisions_of(const TurnByTurn& run) {
  nb::list list;
  for (const Decision& one : run.decisions()) {
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

// A property of the run.
template <typename Look>
auto looks(const Look& look) {
  return [look](Steps& steps) { return steps.seen(look); };
}

}  // namespace

void add_turns(nb::module_& module) {
  nb::class_<Steps>(module, "Steps")
      .def(
          "__init__",
          [](Steps* self, const RunConfig& config, const TraceJobs* trace, double time_limit) {
            if (!(time_limit > 0)) {
              raise(Error{fmt::format("time_limit is {}, but must be above 0", time_limit)});
            }
            new (self) Steps(
                std::make_unique<TurnByTurn>(config, trace == nullptr ? nullptr : trace->jobs),
                python_calls(config), time_limit);
          },
          nb::arg("description"), nb::arg("trace").none(), nb::arg("time_limit"))
      .def(
          "turn",
          [](Steps& steps, nb::handle order) {
            if (order.is_none()) return steps.turn(nullptr);
            const auto ids = nb::cast<std::vector<std::uint32_t>>(order);
            return steps.turn(&ids);
          },
          nb::arg("order").none())
      .def("run", &Steps::run)
      .def("use", &Steps::use)
      .def("fork", &Steps::fork)
      .def("jobs", &Steps::jobs)
      .def("cluster", &Steps::cluster)
      .def("decisions", looks(decisions_of))
      .def_prop_ro("now", looks([](const TurnByTurn& run) { return run.engine().now(); }))
      .def_prop_ro("turns", looks([](const TurnByTurn& run) { return run.engine().turns(); }))
      .def_prop_ro("left", looks([](const TurnByTurn& run) { return run.engine().left(); }))
      .def_prop_ro("arrived", looks([](const TurnByTurn& run) { return run.engine().arrived(); }))
      .def_prop_ro("over", looks([](const TurnByTurn& run) { return run.over(); }))
      .def("summary", looks([](const TurnByTurn& run) {
             return summary_to_json({RunInfo{}, run.summary(), run.over(), ""});
           }));
}

}  // namespace muster::python
