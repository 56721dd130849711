#include "workload/perf/models.h"

#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "perf/cpu_profiles.h"
#include "perf/interleave.h"
#include "perf/product.h"
#include "perf/simple_models.h"
#include "workload/perf/colocation_files.h"
#include "workload/perf/throughput_json.h"
#include "workload/perf/throughput_tables.h"
#include "workload/perf/training_files.h"

namespace muster {
namespace {

using Made = Result<std::unique_ptr<PerfModel>>;

Made locality(const Params& params, Symbols& symbols) {
  std::set<Symbol> only;
  for (const std::string_view name : split(params.text("models"), ',')) {
    if (!trim(name).empty()) only.insert(symbols.intern(trim(name)));
  }
  return Made(
      make_locality(params.real("across_nodes"), params.real("across_racks"), std::move(only)));
}

Made gpu_types(const Params& params, Symbols& symbols) {
  std::map<Symbol, double> speeds;
  for (const std::string_view part : split(params.text("speeds"), ',')) {
    if (trim(part).empty()) continue;
    const std::size_t equals = part.find('=');
    const auto speed =
        equals == std::string_view::npos ? std::nullopt : parse_real(trim(part.substr(equals + 1)));
    if (!speed || !(*speed > 0) || std::isinf(*speed)) {
      return Error{
          fmt::format("performance model 'gpu-types': '{}' in parameter 'speeds' is not of the "
                      "form type=speed with a "
                      "positive speed, as in v100=1,k80=0.25",
                      trim(part))};
    }
    speeds[symbols.intern(trim(part.substr(0, equals)))] = *speed;
  }
  return Made(make_gpu_types(std::move(speeds)));
}

Made colocation(const Params& params, Symbols& symbols) {
  ColocationFiles files;
  files.profiles = params.text("profiles");
  files.pairs = params.text("pairs");
  for (const std::string_view name : split(params.text("undisturbed"), ',')) {
    if (!trim(name).empty()) files.undisturbed.emplace_back(trim(name));
  }
  files.complete = params.text("missing") == "error";
  ColocationOptions options;
  options.slope = params.real("slope");
  options.spare = params.real("spare");
  options.unknown_loss = params.real("unknown_loss");
  return load_colocation(files, options, symbols);
}

Made throughput_tables(const Params& params, Symbols& symbols) {
  return load_throughput_tables(
      params.text("folder"), params.text("cap") == "peak" ? cap_at_peak : cap_at_widest, symbols);
}

}  // namespace

// Long: a row per model, most of it the sentences of its parameters.
const std::vector<PerfInfo>& perf_table() {
  static const std::vector<PerfInfo> kTable = {
      {"ideal",
       "every job takes its recorded duration, wherever it runs",
       "folklore",
       {},
       [](const Params&, Symbols&) { return Made(multiply({})); }},
      {"scaling",
       "speed grows with GPUs by Amdahl's law",
       "Amdahl, 1967",
       {{"serial", ParamKind::kReal, "0.05", "fraction of the work that does not speed up", 0, 1}},
       [](const Params& p, Symbols&) { return Made(make_scaling(p.real("serial"))); }},
      {"locality",
       "a job spread over nodes or racks loses a fraction of its speed",
       "Tiresias, 2019",
       {{"across_nodes", ParamKind::kReal, "0.1", "fraction of the speed lost across nodes", 0,
         0.99},
        {"across_racks", ParamKind::kReal, "0.2", "fraction of the speed lost across racks", 0,
         0.99},
        {"models", ParamKind::kText, "",
         "models that lose speed, separated by commas; empty: all"}},
       locality},
      {"gpu-types",
       "GPU types differ in speed, the same for all jobs",
       "folklore",
       {{"speeds", ParamKind::kText, "", "speed by type, as in v100=1,k80=0.25; others run at 1"}},
       gpu_types},
      {"sharing",
       "jobs on the same GPUs slow each other down",
       "folklore",
       {{"loss", ParamKind::kReal, "0.3", "fraction of the speed lost per co-located job", 0,
         0.99}},
       [](const Params& p, Symbols&) { return Made(make_sharing(p.real("loss"))); }},
      {"colocation",
       "speeds of pairs on the same GPUs from a measured table, or estimated from utilisations",
       "Lucid, 2023",
       {{"profiles", ParamKind::kText, "", "CSV file of workloads run alone; see docs/lucid.md"},
        {"pairs", ParamKind::kText, "", "CSV file of measured pairs; see docs/lucid.md"},
        {"undisturbed", ParamKind::kText, "",
         "models whose pairs run at full speed, separated by commas"},
        {"missing",
         ParamKind::kText,
         "estimate",
         "what to do with a pair that is not in the table: estimate it, or report an error before "
         "the run",
         -1,
         1,
         {"estimate", "error"}},
        {"slope", ParamKind::kReal, "0.0028",
         "estimate: speed lost per percent of total GPU utilisation above `spare`", 0, 1},
        {"spare", ParamKind::kReal, "80",
         "estimate: total GPU utilisation, in percent, up to which nothing is lost", 0},
        {"unknown_loss", ParamKind::kReal, "0.3",
         "fraction of the speed lost where one of the two has no profile", 0, 0.99}},
       colocation},
      {"interleave",
       "jobs on the same GPUs take turns at storage, CPU, GPU and network",
       "Muri, 2022",
       {{"order",
         ParamKind::kText,
         "best",
         "order of the members of a group: the one with the shortest period, or with the longest",
         -1,
         1,
         {"best", "worst"}},
        {"load",
         ParamKind::kText,
         "merged",
         "whether storage and CPU are one stage that may take two places of a round",
         -1,
         1,
         {"merged", "split"}},
        {"stretch_1", ParamKind::kReal, "1.015", "measured over profiled step time of a job alone",
         1e-6},
        {"stretch_2", ParamKind::kReal, "1.33", "the same for a group of two", 1e-6},
        {"stretch_3", ParamKind::kReal, "1.5", "the same for a group of three", 1e-6},
        {"stretch_4", ParamKind::kReal, "1.37", "the same for a group of four", 1e-6}},
       make_interleaving},
      {"throughputs",
       "measured steps per second by job type, GPU type and co-located job, from a JSON table",
       "Gavel, 2020",
       {{"file", ParamKind::kText, "", "the table, such as simulation_throughputs.json"},
        {"reference", ParamKind::kText, "v100",
         "the GPU type on which a job takes its recorded duration"}},
       [](const Params& p, Symbols& symbols) {
         return load_throughputs(p.text("file"), p.text("reference"), symbols);
       }},
      {"estimated-throughputs",
       "as throughputs, with pair speeds estimated from a few profiled pairs; for use as a belief",
       "Gavel, 2020",
       {{"file", ParamKind::kText, "", "the table, such as simulation_throughputs.json"},
        {"reference", ParamKind::kText, "v100",
         "the GPU type on which a job takes its recorded duration"},
        {"profiled", ParamKind::kReal, "1",
         "fraction of the pairs with reference types that is measured for each job", 0, 1},
        {"references", ParamKind::kInteger, "0",
         "job types whose pairs with each other are measured beforehand; 0: all", 0, 1e6},
        {"seed", ParamKind::kInteger, "0", "seed of references and profiles", 0, 9e15}},
       [](const Params& p, Symbols& symbols) {
         PairEstimateOptions options;
         options.profiled = p.real("profiled");
         options.references = static_cast<int>(p.integer("references"));
         options.seed = static_cast<std::uint64_t>(p.integer("seed"));
         return load_estimated_throughputs(p.text("file"), p.text("reference"), options, symbols);
       }},
      {"cpu-profiles",
       "models need different numbers of CPU cores per GPU",
       "Synergy, 2022",
       {},
       [](const Params&, Symbols& symbols) { return Made(make_cpu_profiles(symbols)); }},
      {"throughput-tables",
       "iterations per second by model, batch size and GPU count, from a folder of measured tables",
       "ElasticFlow, 2023",
       {{"folder", ParamKind::kText, "",
         "holds one <model>.csv per model; see docs/elasticflow.md"},
        {"cap",
         ParamKind::kText,
         "peak",
         "largest size for elastic policies: the fastest count, or none",
         -1,
         1,
         {"peak", "none"}}},
       throughput_tables},
      {"goodput",
       "useful training per second of measured applications, at the best batch size for every GPU "
       "count",
       "Pollux, 2021",
       {{"folder", ParamKind::kText, "",
         "holds one folder of measurements per application; see docs/rivals.md"},
        {"batch",
         ParamKind::kText,
         "adapted",
         "whether the batch size adapts to GPUs and progress, or is the one that the job gives",
         -1,
         1,
         {"adapted", "given"}}},
       [](const Params& p, Symbols& symbols) {
         return load_goodput_model(p.text("folder"), p.text("batch") == "adapted", symbols);
       }},
  };
  return kTable;
}

}  // namespace muster
