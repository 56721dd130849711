#include "workload/generate/generators.h"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "workload/generate/generator_rows.h"

namespace muster {
namespace {

constexpr std::array<Generator, 13> kGenerators = {{
    {"poisson", "independent arrivals, one distribution of durations, a mix of sizes", "",
     poisson_params, make_poisson},
    {"diurnal", "arrivals that follow day and night and the week, with bursts", "", diurnal_params,
     make_diurnal},
    {"small-large", "two classes of jobs, small and large, and periodic bursts of small ones", "",
     small_large_params, make_small_large},
    {"philly-like", "sizes, durations and arrivals with the marginals of Microsoft's Philly trace",
     "", philly_like_params, make_philly_like},
    {"venus-like",
     "users with habits on 15 partitions, with the statistics of the Venus cluster of Helios", "",
     venus_like_params, make_venus_like},
    {"static", "all jobs are submitted at one time", "", static_params, make_static},
    {"fit",
     "a statistical twin of a trace: fits its durations, sizes and arrivals and draws new jobs", "",
     fit_params, make_fit},
    {"blox-simple",
     "Blox's single-load source: Poisson arrivals, durations of 32 minutes to 7 days",
     "Blox (EuroSys 2024), simulator_simple.py", blox_params, make_blox_simple_row},
    {"blox-dual-load", "Blox's dual-load source, job by job as it was published",
     "Blox (EuroSys 2024), simulator_dual_load.py", blox_params, make_blox_dual_load_row},
    {"blox-small-large", "Blox's source of long jobs with bursts of short ones every four hours",
     "Blox (EuroSys 2024), simulator_dual_load_small_large.py", blox_params,
     make_blox_small_large_row},
    {"gavel", "the jobs that Gavel's simulator and sweeps draw, draw for draw",
     "Gavel (OSDI 2020), utils.generate_job", gavel_params, make_gavel_jobs},
    {"gavel-trace", "the jobs that Gavel's script for traces draws, draw for draw",
     "Gavel (OSDI 2020), generate_trace.py", gavel_trace_params, make_gavel_trace},
    {"elasticflow",
     "the synthetic jobs with deadlines that ElasticFlow's script draws, draw for draw",
     "ElasticFlow (ASPLOS 2023), generate_trace.py", elasticflow_params, make_elasticflow_jobs},
}};

}  // namespace

std::span<const Generator> generators() { return kGenerators; }

Result<const Generator*> find_generator(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Generator& generator : kGenerators) {
    if (same_name(generator.name, name)) return &generator;
    names.push_back(generator.name);
  }
  return Error{unknown_name("generator", name, names)};
}

Result<Generated> make_generator(std::string_view name, const ParamTexts& given, Symbols& symbols) {
  const Result<const Generator*> generator = find_generator(name);
  if (!generator) return generator.error();
  const std::string owner = fmt::format("generator '{}'", name);
  const Result<Params> params = Params::make(owner, (*generator)->params(), given);
  if (!params) return params.error();
  Result<Generated> made = (*generator)->make(*params, symbols);
  if (!made) return Error{fmt::format("{}: {}", owner, made.error().message)};
  return made;
}

}  // namespace muster
