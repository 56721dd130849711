// The environment for players.
#include <deque>

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "core/convert.h"
#include "core/environment.h"
#include "core/parts.h"
#include "core/trace.h"
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

// Begins an episode; Ctrl-C ends the drawing of its jobs.
void begin(Environment& environment, long long seed) {
  bool interrupted = false;
  try {
    environment.reset(seed, [&interrupted] {
      const nb::gil_scoped_acquire interpreter;
      interrupted = PyErr_CheckSignals() != 0;
      return !interrupted;
    });
  } catch (const MusterError&) {
    if (!interrupted) throw;
    const nb::gil_scoped_acquire interpreter;
    throw nb::python_error();
  }
}

void check_room(const Environment& environment, const Room<float>& room, std::size_t count) {
  if (room.size() != count * environment.features()) {
    raise(Error{"the array for observations has the wrong size"});
  }
}

nb::tuple step(Environment& environment, long long action, nb::handle observation) {
  const Busy::Inside inside(environment.busy());
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
  std::deque<Busy::Inside> inside;
  for (Environment* one : all) inside.emplace_back(one->busy());
  const nb::gil_scoped_release release;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Environment& one = *all[i];
    if (over.begin()[i] != 0) {
      begin(one, seed.begin()[i]++);
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

}  // namespace

void add_stepping(nb::module_& module) {
  nb::class_<Environment>(module, "Environment")
      .def("reset",
           [](Environment& self, long long seed, nb::handle observation) {
             const Busy::Inside inside(self.busy());
             {
               const nb::gil_scoped_release release;
               begin(self, seed);
             }
             const Room<float> room(observation);
             check_room(self, room, 1);
             self.observe(room.begin());
           })
      .def("step", step)
      .def("mask",
           [](Environment& self) {
             const Busy::Inside inside(self.busy());
             std::vector<char> actions(self.window() + 1);
             self.mask(actions.data());
             return bytes_of(actions);
           })
      .def_prop_ro("features", &Environment::features)
      .def_prop_ro("over", &Environment::over)
      .def_prop_ro("now", &Environment::now)
      .def("summary", [](Environment& self) {
        const Busy::Inside inside(self.busy());
        return summary_to_json({RunInfo{}, self.summary(), self.over(), ""});
      });
  module.def("make_environment", make, nb::arg("settings"), nb::arg("trace").none(),
             nb::arg("window"), nb::arg("latency"), nb::arg("lengths"), nb::arg("reward_scale"));
  module.def("step_all", step_all);
}

}  // namespace muster::python
