// Runs of one description or of several side by side, with their results kept.
#include <filesystem>
#include <mutex>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/parallel.h"
#include "core/parts.h"
#include "core/policy_loader.h"
#include "core/trace.h"
#include "core/watched.h"
#include "report/refusals.h"
#include "report/summary_json.h"
#include "run/assembly/recorded_run.h"

namespace muster::python {
namespace {

// One run that came to an end, well or not.
struct Outcome {
  std::string name;
  std::string folder;
  std::string summary;                // JSON
  std::vector<std::string> warnings;  // of jobs that were refused
  bool complete = false;
};

std::vector<std::shared_ptr<PolicyCalls>> calls_of(const std::vector<RunConfig>& runs) {
  std::vector<std::shared_ptr<PolicyCalls>> calls;
  for (const RunConfig& run : runs) {
    if (auto own = python_calls(run)) calls.push_back(std::move(own));
  }
  return calls;
}

// What all runs share: the jobs in memory, if they can be. A single run draws them as it goes, and
// would read a trace whole in any case.
std::shared_ptr<const SharedJobs> jobs_for(const std::vector<RunConfig>& runs,
                                           const TraceJobs* trace, const Watch& watch) {
  if (trace != nullptr) return trace->jobs;
  const WorkloadConfig& workload = runs.front().workload;
  if (endless(workload) || workload.stream) return nullptr;
  if (runs.size() == 1 && workload.trace.empty()) return nullptr;
  return must(load_jobs(workload, [&watch] { return watch.keep_going(); }));
}

struct RunAll {
  std::vector<RunConfig> runs;
  const TraceJobs* trace;
  unsigned threads;
  Watch watch;
  std::vector<std::optional<RecordedRun>> recorded;
  std::optional<Error> error;

  void operator()() {
    const std::shared_ptr<const SharedJobs> jobs = jobs_for(runs, trace, watch);
    recorded.resize(runs.size());
    std::mutex mutex;
    in_parallel(runs.size(), threads, [&](std::size_t i) {
      if (!watch.keep_going()) return;
      LeftCounter counter(watch.progress);
      RunHooks hooks;
      hooks.keep_going = [this] { return watch.keep_going(); };
      hooks.observer = &counter;
      auto run = record_run(runs[i], jobs, hooks);
      const std::scoped_lock lock(mutex);
      if (run) {
        recorded[i] = std::move(*run);
      } else if (!error) {
        error = run.error();
        if (runs.size() > 1) error->message = runs[i].name + ": " + error->message;
        watch.stop = true;
      }
    });
  }
};

std::vector<Outcome> run_all(std::vector<RunConfig> runs, const TraceJobs* trace, unsigned threads,
                             nb::object progress, double time_limit) {
  if (!(time_limit > 0)) {
    raise(Error{fmt::format("time_limit is {}, but must be above 0", time_limit)});
  }
  const auto calls = calls_of(runs);
  RunAll all{.runs = std::move(runs),
             .trace = trace,
             .threads = threads,
             .watch = {},
             .recorded = {},
             .error = {}};
  // Policies written in Python run one at a time in any case.
  if (!calls.empty()) all.threads = 1;
  watched(all.watch, {std::move(progress), time_limit, calls}, [&all] { all(); });
  for (const auto& one : calls) one->raise_failure();
  if (all.error) raise(*all.error);
  std::vector<Outcome> outcomes;
  for (const auto& run : all.recorded) {
    if (run->unwritten) raise(*run->unwritten);
    outcomes.push_back({run->info.label, run->folder,
                        summary_to_json({run->info, run->summary, run->complete, ""}),
                        refusal_warnings(run->info, run->summary), run->complete});
  }
  return outcomes;
}

void set_output(RunConfig& config, const std::string& folder, bool force, bool turns,
                const std::string& trace) {
  config.output.folder = folder;
  config.output.force = force;
  config.output.turns = config.output.turns || turns;
  if (!trace.empty()) config.workload.trace = trace;
}

}  // namespace

void add_runs(nb::module_& module) {
  nb::class_<Outcome>(module, "Outcome")
      .def_ro("name", &Outcome::name)
      .def_ro("folder", &Outcome::folder)
      .def_ro("summary", &Outcome::summary)
      .def_ro("warnings", &Outcome::warnings)
      .def_ro("complete", &Outcome::complete);
  module.def("set_output", set_output);
  module.def("run_all", run_all, nb::arg("runs"), nb::arg("trace").none(), nb::arg("threads"),
             nb::arg("progress").none(), nb::arg("time_limit"));
}

}  // namespace muster::python
