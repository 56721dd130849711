#include "perf/models.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "perf/colocation.h"
#include "perf/cpu_profiles.h"
#include "perf/goodput_model.h"
#include "perf/interleave.h"
#include "perf/throughput_tables.h"
#include "perf/throughputs.h"

namespace muster {
namespace {

// Amdahl's law: a part of the work does not speed up with GPUs.
class Scaling final : public PerfModel {
 public:
  explicit Scaling(double serial) : serial_(serial) {}
  double rate(const JobSpec& job, const RunContext& context) const override {
    return speedup(context.gpus) / speedup(job.gpus);
  }

 private:
  double speedup(int gpus) const { return 1 / (serial_ + (1 - serial_) / std::max(1, gpus)); }
  double serial_;
};

// A job that spans nodes or racks loses a part of its speed.
class Locality final : public PerfModel {
 public:
  Locality(double across_nodes, double across_racks, std::set<Symbol> only)
      : across_nodes_(across_nodes), across_racks_(across_racks), only_(std::move(only)) {}
  double rate(const JobSpec& job, const RunContext& context) const override {
    if (context.nodes <= 1 || (!only_.empty() && only_.count(job.model) == 0)) return 1;
    return context.racks > 1 ? 1 - across_racks_ : 1 - across_nodes_;
  }

 private:
  double across_nodes_;
  double across_racks_;
  std::set<Symbol> only_;
};

// GPU types differ in speed, the same for all jobs.
class GpuTypes final : public PerfModel {
 public:
  explicit GpuTypes(std::map<Symbol, double> speeds) : speeds_(std::move(speeds)) {}
  double rate(const JobSpec&, const RunContext& context) const override {
    const auto found = speeds_.find(context.gpu_type);
    return found == speeds_.end() ? 1 : found->second;
  }

 private:
  std::map<Symbol, double> speeds_;
};

// Jobs that share GPUs slow each other down.
class Sharing final : public PerfModel {
 public:
  explicit Sharing(double loss) : loss_(loss) {}
  double rate(const JobSpec&, const RunContext& context) const override {
    return std::pow(1 - loss_, static_cast<double>(context.neighbours.size()));
  }

 private:
  double loss_;
};

// Blox multiplies the progress of its Optimus by a constant that depends on nothing but the arrival
// rate.
class OptimusAsCoded final : public PerfModel {
 public:
  explicit OptimusAsCoded(double load) : rate_(factor(load)) {}
  double rate(const JobSpec&, const RunContext&) const override { return rate_; }

 private:
  static double factor(double load) {
    constexpr double kByLoad[] = {5, 3, 1.4, 1.2, 1.1};
    return load >= 1 && load < 6 ? kByLoad[static_cast<std::size_t>(load) - 1] : 1.0;
  }
  double rate_;
};

class Product final : public PerfModel {
 public:
  explicit Product(std::vector<std::unique_ptr<PerfModel>> models) : models_(std::move(models)) {}
  double rate(const JobSpec& job, const RunContext& context) const override {
    double product = 1;
    for (const auto& model : models_) product *= model->rate(job, context);
    return product;
  }
  double step_rate(const JobSpec& job, const RunContext& context) const override {
    if (!counts_steps()) return PerfModel::step_rate(job, context);
    double product = 1;
    for (const auto& model : models_) {
      product *= model->counts_steps() ? model->step_rate(job, context) : model->rate(job, context);
    }
    return product;
  }
  bool counts_steps() const override {
    return std::any_of(models_.begin(), models_.end(),
                       [](const auto& model) { return model->counts_steps(); });
  }
  const WorkloadProfile* profile(Symbol model) const override {
    for (const auto& part : models_) {
      if (const WorkloadProfile* found = part->profile(model)) return found;
    }
    return nullptr;
  }
  // Steps are those of the first model that counts any; the others only slow them down.
  double total_work(const JobSpec& job) const override {
    const PerfModel* counts = counting();
    return counts != nullptr ? counts->total_work(job) : job.duration;
  }
  double steps(const JobSpec& job) const override {
    const PerfModel* counts = counting();
    return counts != nullptr ? counts->steps(job) : job.duration;
  }
  double step_time(const JobSpec& job, const RunContext& context) const override {
    const PerfModel* counts = counting();
    double time = counts != nullptr ? counts->step_time(job, context) : 1;
    for (const auto& model : models_) {
      if (model.get() != counts) time /= model->rate(job, context);
    }
    return time;
  }
  const Interleaving* interleaving() const override {
    const PerfModel* counts = counting();
    return counts != nullptr ? counts->interleaving() : nullptr;
  }
  const ThroughputCurve* curve(const JobSpec& job) const override {
    for (const auto& part : models_) {
      if (const ThroughputCurve* found = part->curve(job)) return found;
    }
    return nullptr;
  }
  const Training* training(const JobSpec& job) const override {
    for (const auto& part : models_) {
      if (const Training* found = part->training(job)) return found;
    }
    return nullptr;
  }
  Status check(const JobSpec& job) const override {
    for (const auto& part : models_) {
      if (Status status = part->check(job); !status) return status;
    }
    return Done{};
  }
  bool knows_nothing_of(const JobSpec& job) const override {
    return std::any_of(models_.begin(), models_.end(),
                       [&](const auto& model) { return model->knows_nothing_of(job); });
  }
  HostResources wanted_host(const JobSpec& job) const override {
    HostResources most = PerfModel::wanted_host(job);
    for (const auto& model : models_) {
      const HostResources wanted = model->wanted_host(job);
      most.cpus_per_gpu = std::max(most.cpus_per_gpu, wanted.cpus_per_gpu);
      most.memory_per_gpu = std::max(most.memory_per_gpu, wanted.memory_per_gpu);
    }
    return most;
  }

 private:
  const PerfModel* counting() const {
    for (const auto& model : models_) {
      if (model->interleaving() != nullptr) return model.get();
    }
    return nullptr;
  }

  std::vector<std::unique_ptr<PerfModel>> models_;
};

using Made = Result<std::unique_ptr<PerfModel>>;

Made make_locality(const Params& params, Symbols& symbols) {
  std::set<Symbol> only;
  for (const std::string_view name : split(params.text("models"), ',')) {
    if (!trim(name).empty()) only.insert(symbols.intern(trim(name)));
  }
  return Made(std::make_unique<Locality>(params.real("across_nodes"), params.real("across_racks"),
                                         std::move(only)));
}

Made make_gpu_types(const Params& params, Symbols& symbols) {
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
  return Made(std::make_unique<GpuTypes>(std::move(speeds)));
}

Made make_colocation_of(const Params& params, Symbols& symbols) {
  ColocationOptions options;
  options.profiles = params.text("profiles");
  options.pairs = params.text("pairs");
  for (const std::string_view name : split(params.text("undisturbed"), ',')) {
    if (!trim(name).empty()) options.undisturbed.emplace_back(trim(name));
  }
  options.estimate_missing = params.text("missing") == "estimate";
  options.slope = params.real("slope");
  options.spare = params.real("spare");
  options.unknown_loss = params.real("unknown_loss");
  return make_colocation(options, symbols);
}

Made make_tables_of(const Params& params, Symbols& symbols) {
  const std::string& cap = params.text("cap");
  return make_throughput_tables(params.text("folder"),
                                cap == "peak"            ? CurveCap::kPeak
                                : cap == "artifact-a100" ? CurveCap::kA100
                                : cap == "artifact-t4"   ? CurveCap::kT4
                                                         : CurveCap::kNone,
                                symbols);
}

}  // namespace

const std::vector<PerfInfo>& perf_table() {
  static const std::vector<PerfInfo> kTable = {
      {"ideal",
       "every job runs as its recorded duration says, wherever it is",
       "folklore",
       {},
       [](const Params&, Symbols&) { return Made(multiply({})); }},
      {"scaling",
       "speed grows with GPUs by Amdahl's law",
       "Amdahl, 1967",
       {{"serial", ParamKind::kReal, "0.05", "part of the work that does not speed up", 0, 1}},
       [](const Params& p, Symbols&) { return Made(std::make_unique<Scaling>(p.real("serial"))); }},
      {"locality",
       "a job spread over nodes or racks loses a part of its speed",
       "Tiresias, 2019",
       {{"across_nodes", ParamKind::kReal, "0.1", "part of the speed lost across nodes", 0, 0.99},
        {"across_racks", ParamKind::kReal, "0.2", "part of the speed lost across racks", 0, 0.99},
        {"models", ParamKind::kText, "",
         "only these models lose, separated by commas; empty: all"}},
       make_locality},
      {"gpu-types",
       "GPU types differ in speed, the same for all jobs",
       "folklore",
       {{"speeds", ParamKind::kText, "", "speed by type, as in v100=1,k80=0.25; others run at 1"}},
       make_gpu_types},
      {"sharing",
       "jobs on the same GPUs slow each other down",
       "folklore",
       {{"loss", ParamKind::kReal, "0.3", "part of the speed that each neighbour costs", 0, 0.99}},
       [](const Params& p, Symbols&) { return Made(std::make_unique<Sharing>(p.real("loss"))); }},
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
         "what a pair outside the table gets: an estimate, or an error before the run",
         -1,
         1,
         {"estimate", "error"}},
        {"slope", ParamKind::kReal, "0.0028",
         "estimate: speed lost per percent of GPU utilisation beyond the spare one", 0, 1},
        {"spare", ParamKind::kReal, "80",
         "estimate: sum of GPU utilisations, in percent, that costs nothing", 0},
        {"unknown_loss", ParamKind::kReal, "0.3",
         "part of the speed lost where one of the two has no profile", 0, 0.99}},
       make_colocation_of},
      {"interleave",
       "jobs on the same GPUs take turns at storage, CPU, GPU and network",
       "Muri, 2022",
       {{"order",
         ParamKind::kText,
         "best",
         "how the members of a group are ordered: for the shortest period or the longest",
         -1,
         1,
         {"best", "worst"}},
        {"load",
         ParamKind::kText,
         "merged",
         "whether storage and CPU are one stage that may last two places of a round",
         -1,
         1,
         {"merged", "split"}},
        {"stretch_1", ParamKind::kReal, "1.015", "a measured step over a profiled one, alone",
         1e-6},
        {"stretch_2", ParamKind::kReal, "1.33", "the same in a group of two", 1e-6},
        {"stretch_3", ParamKind::kReal, "1.5", "the same in a group of three", 1e-6},
        {"stretch_4", ParamKind::kReal, "1.37", "the same in a group of four", 1e-6}},
       make_interleaving},
      {"throughputs",
       "measured steps per second by job type, GPU type and neighbour, from a table in JSON",
       "Gavel, 2020",
       {{"file", ParamKind::kText, "", "the table, such as simulation_throughputs.json"},
        {"reference", ParamKind::kText, "v100",
         "the GPU type on which a job takes its recorded duration"}},
       [](const Params& p, Symbols& symbols) {
         return make_throughputs(p.text("file"), p.text("reference"), symbols);
       }},
      {"estimated-throughputs",
       "as throughputs, with the speeds of pairs estimated from a few profiled ones; a belief",
       "Gavel, 2020",
       {{"file", ParamKind::kText, "", "the table, such as simulation_throughputs.json"},
        {"reference", ParamKind::kText, "v100",
         "the GPU type on which a job takes its recorded duration"},
        {"profiled", ParamKind::kReal, "1",
         "part of the pairs with references that are measured of every job", 0, 1},
        {"references", ParamKind::kInteger, "0",
         "job types whose pairs with each other are measured beforehand; 0: all", 0, 1e6},
        {"seed", ParamKind::kInteger, "0", "of references and profiles", 0, 9e15}},
       [](const Params& p, Symbols& symbols) {
         EstimateOptions options;
         options.profiled = p.real("profiled");
         options.references = static_cast<int>(p.integer("references"));
         options.seed = static_cast<std::uint64_t>(p.integer("seed"));
         return make_estimated_throughputs(p.text("file"), p.text("reference"), options, symbols);
       }},
      {"cpu-profiles",
       "models need different numbers of CPU cores beside each GPU",
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
         "how far elastic policies may stretch a job: to its fastest count, as the ElasticFlow "
         "artifact says for its A100 or T4 tables, or without limit",
         -1,
         1,
         {"peak", "artifact-a100", "artifact-t4", "none"}}},
       make_tables_of},
      {"goodput",
       "useful training per second of measured applications, at the best batch size for every GPU "
       "count",
       "Pollux, 2021",
       {{"folder", ParamKind::kText, "",
         "holds one folder of measurements per application; see docs/rivals.md"},
        {"batch",
         ParamKind::kText,
         "adapted",
         "whether the batch size follows GPUs and progress, or is the one of the job",
         -1,
         1,
         {"adapted", "given"}}},
       [](const Params& p, Symbols& symbols) {
         return make_goodput_model(p.text("folder"), p.text("batch") == "adapted", symbols);
       }},
      {"optimus-as-coded",
       "Blox's constant speed-up of Optimus, looked up by jobs per hour",
       "Blox, 2024",
       {{"load", ParamKind::kReal, "6", "jobs per hour", 0}},
       [](const Params& p, Symbols&) {
         return Made(std::make_unique<OptimusAsCoded>(p.real("load")));
       }},
  };
  return kTable;
}

std::unique_ptr<PerfModel> multiply(std::vector<std::unique_ptr<PerfModel>> models) {
  if (models.size() == 1) return std::move(models.front());
  return std::make_unique<Product>(std::move(models));
}

}  // namespace muster
