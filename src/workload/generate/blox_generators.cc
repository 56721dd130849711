// Blox's sources as rows of the table of generators.
#include <limits>

#include "workload/generate/blox_sources.h"
#include "workload/generate/first_jobs.h"
#include "workload/generate/generator_rows.h"

namespace muster {
namespace {

Result<BloxOptions> options_of(const Params& params) {
  BloxOptions options;
  options.jobs_per_hour = params.real("load");
  options.seed = params.integer("seed");
  options.round = params.real("round");
  options.cached = !params.flag("fresh");
  const std::string& durations = params.text("durations");
  if (durations == "small-trace") options.durations = BloxDurations::kDrawnShort;
  if (durations == "log") options.durations = BloxDurations::kFromLog;
  const std::string& log = params.text("log");
  const bool multi_gpu = params.flag("multi_gpu");
  if (log.empty()) {
    if (multi_gpu || options.durations == BloxDurations::kFromLog) {
      return Error{
          "multi_gpu and durations=log take their values from a Philly cluster_job_log: name the "
          "file with the parameter 'log' (`muster data list` says where it is published)"};
    }
    options.list = blox_plain_list(static_cast<std::size_t>(params.integer("list")));
    return options;
  }
  Result<std::vector<BloxLogJob>> list = read_blox_log(log, multi_gpu);
  if (!list) return list.error();
  if (list->empty()) return Error{log + ": Blox accepts none of its jobs"};
  options.list = std::move(*list);
  return options;
}

template <typename Make>
Result<Generated> make_row(const Params& params, Symbols& symbols, Make make) {
  Result<BloxOptions> options = options_of(params);
  if (!options) return options.error();
  return Generated{first_jobs(make(std::move(*options), symbols),
                              static_cast<std::uint64_t>(params.integer("jobs"))),
                   {}};
}

}  // namespace

ParamList blox_params() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {
      {"load", ParamKind::kReal, "5", "jobs per hour of the first stream", 1e-3, 1e6},
      {"seed", ParamKind::kInteger, "1", "seed of Python's random numbers; 1 in all of Blox", 0,
       9e15},
      {"round", ParamKind::kReal, "300", "seconds between turns; jobs arrive at turns", 1, 1e9},
      {"durations",
       ParamKind::kText,
       "exponential",
       "Blox's distribution, its short one, or that of the log; only blox-simple uses it",
       -kInfinity,
       kInfinity,
       {"exponential", "small-trace", "log"}},
      {"fresh", ParamKind::kFlag, "false",
       "the first run of Blox in a folder: arrivals continue the random stream after the "
       "durations"},
      {"multi_gpu", ParamKind::kFlag, "false",
       "GPU counts of the log, up to 16, instead of one each"},
      {"log", ParamKind::kText, "", "a Philly cluster_job_log; empty: `list` jobs of one GPU"},
      {"list", ParamKind::kInteger, "20000", "number of jobs that the log would have", 1, 1e8},
      {"jobs", ParamKind::kInteger, "1000", "number of jobs; 0: endless", 0, 4e9},
  };
}

Result<Generated> make_blox_simple_row(const Params& params, Symbols& symbols) {
  return make_row(params, symbols, make_blox_simple);
}
Result<Generated> make_blox_dual_load_row(const Params& params, Symbols& symbols) {
  return make_row(params, symbols, make_blox_dual_load);
}
Result<Generated> make_blox_small_large_row(const Params& params, Symbols& symbols) {
  return make_row(params, symbols, make_blox_small_large);
}

}  // namespace muster
