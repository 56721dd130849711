// Gavel's two sources of jobs, draw for draw: the one inside its simulator and sweeps
// (generate_job), and its script that writes traces (generate_trace.py). Both draw from Python's
// generator; steps are durations times the isolated rate on the reference type.
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/random_python.h"
#include "base/text.h"
#include "workload/generate/first_jobs.h"
#include "workload/generate/gavel_jobs.h"
#include "workload/generate/generator_rows.h"
#include "workload/perf/throughput_json.h"

namespace muster {
namespace {

// Gavel's table of job types, in its order. Only distributed ones run on several GPUs.
struct Template {
  std::string_view family;
  int batch_size;  // 0: the name has none
  bool distributed;
};
constexpr std::array<Template, 26> kTemplates = {{
    {"ResNet-18", 16, true},
    {"ResNet-18", 32, true},
    {"ResNet-18", 64, true},
    {"ResNet-18", 128, true},
    {"ResNet-18", 256, true},
    {"ResNet-50", 16, true},
    {"ResNet-50", 32, true},
    {"ResNet-50", 64, true},
    {"ResNet-50", 128, true},
    {"Transformer", 16, true},
    {"Transformer", 32, true},
    {"Transformer", 64, true},
    {"Transformer", 128, true},
    {"Transformer", 256, true},
    {"LM", 5, true},
    {"LM", 10, true},
    {"LM", 20, true},
    {"LM", 40, true},
    {"LM", 80, true},
    {"Recommendation", 512, false},
    {"Recommendation", 1024, false},
    {"Recommendation", 2048, false},
    {"Recommendation", 4096, false},
    {"Recommendation", 8192, false},
    {"A3C", 0, false},
    {"CycleGAN", 0, false},
}};

// Until August 2020 A3C stood before LM.
constexpr std::size_t kA3cThen = 14;
constexpr std::size_t kA3cNow = 24;
static_assert(kTemplates[kA3cThen].family == "LM" && kTemplates[kA3cNow].family == "A3C");

std::size_t place_in_table(std::size_t drawn, bool older) {
  if (!older || drawn < kA3cThen || drawn > kA3cNow) return drawn;
  return drawn == kA3cThen ? kA3cNow : drawn - 1;
}

std::string job_type_of(const Template& one) {
  if (one.batch_size == 0) return std::string(one.family);
  return fmt::format("{} (batch size {})", one.family, one.batch_size);
}

struct GavelOptions {
  std::string table;  // and the type whose rates it takes, for messages
  std::string reference_type;
  std::int64_t seed = 0;
  double lam = 0;  // mean seconds between arrivals; 0: all at once
  bool multi_gpu = false;
  bool multi_priority = false;
  bool older_types = false;  // the order that the table of job types had until August 2020
  bool deadlines = false;
  double fixed_duration = 0;     // 0: drawn
  std::vector<double> hours;     // the script's choice of durations
  std::vector<int> steady_gpus;  // jobs that are there at the start, until they fill these counts
};

class GavelSource : public JobSource {
 public:
  // `rates` by template and GPUs: steps per second on the reference type, 0 where unknown.
  GavelSource(GavelOptions options, const ThroughputTable& table, int reference, Symbols& symbols)
      : options_(std::move(options)) {
    for (std::size_t i = 0; i < kTemplates.size(); ++i) {
      const std::string job_type = job_type_of(kTemplates[i]);
      models_[i] = symbols.intern(job_type);
      for (std::size_t gpus = 1; gpus < rates_[i].size(); ++gpus) {
        const int key = table.key(job_type, static_cast<int>(gpus));
        rates_[i][gpus] = key == ThroughputTable::kUnknown ? 0 : table.alone(reference, key);
      }
    }
  }

  const JobSpec* peek() override {
    if (!ready_ && !error_) draw();
    return error_ ? nullptr : &job_;
  }
  void pop() override { ready_ = false; }
  bool finished() override { return error_.has_value(); }
  std::optional<Error> error() const override { return error_; }

 protected:
  virtual void draw() = 0;

  std::size_t choose(PythonRandom& random) const {
    return place_in_table(random.choice(kTemplates.size()), options_.older_types);
  }

  void make(std::size_t chosen, int gpus, double duration, double submit) {
    const double rate = rates_[chosen][static_cast<std::size_t>(gpus)];
    if (!(rate > 0)) {
      error_ = Error{fmt::format(
          "{}: the throughputs have no rate for {} on {} GPUs of type {}, by which "
          "steps are counted; choose a table or a reference_type that has it",
          options_.table, job_type_of(kTemplates[chosen]), gpus, options_.reference_type)};
      return;
    }
    job_ = JobSpec{};
    job_.submit = submit;
    job_.arrival = submit;
    job_.duration = duration;
    job_.iterations = duration * rate;
    job_.gpus = gpus;
    job_.batch_size = kTemplates[chosen].batch_size;
    job_.model = models_[chosen];
    job_.priority = 1;
    ready_ = true;
  }

  GavelOptions options_;
  JobSpec job_;

 private:
  std::array<Symbol, kTemplates.size()> models_{};
  std::array<std::array<double, 9>, kTemplates.size()> rates_{};
  std::optional<Error> error_;
  bool ready_ = false;
};

// The jobs of Gavel's simulator. Its streams are the seed plus 2 (jobs), 3 (arrivals), 6 (SLOs).
class SimulatorJobs final : public GavelSource {
 public:
  SimulatorJobs(GavelOptions options, const ThroughputTable& table, int reference, Symbols& symbols)
      : GavelSource(std::move(options), table, reference, symbols),
        jobs_(options_.seed + 2),
        arrivals_(options_.seed + 3),
        slos_(options_.seed + 6),
        missing_(options_.steady_gpus) {}

 private:
  void draw() override {
    int gpus = scale_factor();  // drawn even where every job gets one GPU
    const double duration =
        options_.fixed_duration > 0 ? options_.fixed_duration : drawn_duration();
    if (!options_.multi_gpu) gpus = 1;
    std::size_t chosen = choose(jobs_);
    while (gpus > 1 && !kTemplates[chosen].distributed) chosen = choose(jobs_);
    make(chosen, gpus, duration, next_);
    if (options_.multi_priority && jobs_.uniform(0, 1) <= 0.2) job_.priority = 5;
    if (options_.deadlines) job_.deadline = job_.submit + slo_factor() * duration;
    while (type_ < missing_.size() && missing_[type_] <= 0) ++type_;
    if (type_ < missing_.size()) {
      missing_[type_] -= gpus;
      return;
    }
    // The rate is rounded before it divides, as in the original.
    if (options_.lam > 0) next_ += -std::log(1.0 - arrivals_.random()) / (1.0 / options_.lam);
  }

  int scale_factor() {
    const double u = jobs_.uniform(0, 1);
    if (0.7 <= u && u <= 0.8) return 2;
    if (0.8 <= u && u <= 0.95) return 4;
    return 0.95 <= u ? 8 : 1;
  }
  double drawn_duration() {
    const bool long_one = jobs_.random() >= 0.8;
    return 60 * std::pow(10.0, long_one ? jobs_.uniform(3, 4) : jobs_.uniform(1.5, 3));
  }
  double slo_factor() {
    const double u = slos_.uniform(0, 1);
    if (u < 0.33) return 1.2;
    return u < 0.67 ? 2.0 : 10.0;
  }

  PythonRandom jobs_;
  PythonRandom arrivals_;
  PythonRandom slos_;
  std::vector<int> missing_;  // GPUs of each type that the jobs of the start do not fill yet
  std::size_t type_ = 0;
  double next_ = 0;
};

// The jobs of generate_trace.py: other distributions, and a stream of its own for each of them.
class TraceJobs final : public GavelSource {
 public:
  TraceJobs(GavelOptions options, const ThroughputTable& table, int reference, Symbols& symbols)
      : GavelSource(std::move(options), table, reference, symbols),
        jobs_(options_.seed),
        arrivals_(options_.seed + 1),
        durations_(options_.seed + 2),
        scales_(options_.seed + 3) {}

 private:
  void draw() override {
    const std::size_t chosen = choose(jobs_);
    const int gpus = options_.multi_gpu && kTemplates[chosen].distributed ? scale_factor() : 1;
    const double duration = 3600 * options_.hours[durations_.choice(options_.hours.size())];
    if (!first_ && options_.lam > 0) next_ += -std::log(1.0 - arrivals_.random()) * options_.lam;
    first_ = false;
    // A trace holds whole steps and seconds.
    make(chosen, gpus, duration, std::trunc(next_));
    job_.iterations = std::trunc(job_.iterations);
    if (options_.multi_priority && jobs_.uniform(0, 1) <= 0.2) job_.priority = 5;
  }
  int scale_factor() {
    const double u = scales_.uniform(0, 1);
    if (0.7 <= u && u <= 0.8) return 2;
    return 0.8 <= u ? 4 : 1;
  }

  PythonRandom jobs_;
  PythonRandom arrivals_;
  PythonRandom durations_;
  PythonRandom scales_;
  double next_ = 0;
  bool first_ = true;
};

ParamList common_params(ParamList own) {
  ParamList params = {
      {"throughputs", ParamKind::kText, "",
       "Gavel's table of throughputs (JSON), which turns seconds into steps"},
      {"reference_type", ParamKind::kText, "v100",
       "GPU type whose throughput turns durations into steps"},
      {"lam", ParamKind::kReal, "1800", "mean seconds between arrivals; 0: all jobs at once", 0,
       1e12},
      {"multi_gpu", ParamKind::kFlag, "false", "let some jobs use several GPUs"},
      {"multi_priority", ParamKind::kFlag, "false", "one job in five has priority 5"},
      {"job_types",
       ParamKind::kText,
       "latest",
       "which version of Gavel's table of job types is drawn from; that of July 2020 has them "
       "in another order",
       0,
       0,
       {"latest", "july-2020"}},
  };
  params.insert(params.end(), own.begin(), own.end());
  params.push_back({"seed", ParamKind::kInteger, "0", "Gavel's seed", 0, 9e15});
  params.push_back({"jobs", ParamKind::kInteger, "1000", "number of jobs; 0: endless", 0, 4e9});
  return params;
}

template <typename Source>
Result<Generated> make_source(const Params& params, GavelOptions options, Symbols& symbols) {
  const std::string& path = params.text("throughputs");
  if (path.empty()) {
    return Error{
        "needs the parameter throughputs, a table such as Gavel's simulation_throughputs.json "
        "(`muster data fetch gavel` brings it)"};
  }
  const auto table = load_throughput_table(path);
  if (!table) return table.error();
  const std::string& type = params.text("reference_type");
  const int reference = table->type(type);
  if (reference == ThroughputTable::kUnknown) {
    const std::vector<std::string_view> known(table->types().begin(), table->types().end());
    return Error{fmt::format("{}: {}", path, unknown_name("GPU type", type, known))};
  }
  options.table = path;
  options.reference_type = type;
  options.seed = params.integer("seed");
  options.lam = params.real("lam");
  options.multi_gpu = params.flag("multi_gpu");
  options.multi_priority = params.flag("multi_priority");
  options.older_types = params.text("job_types") == "july-2020";
  return Generated{
      first_jobs(std::make_unique<Source>(std::move(options), *table, reference, symbols),
                 static_cast<std::uint64_t>(params.integer("jobs"))),
      {}};
}

}  // namespace

ParamList gavel_params() {
  return common_params({
      {"fixed_duration", ParamKind::kReal, "0", "duration of every job in seconds; 0: drawn", 0,
       1e12},
      {"deadlines", ParamKind::kFlag, "false",
       "each job gets a deadline of 1.2, 2 or 10 times its duration"},
      {"steady_state", ParamKind::kText, "",
       "GPUs by type, as in 36:36:36, that are filled with jobs at the start"},
  });
}

Result<Generated> make_gavel_jobs(const Params& params, Symbols& symbols) {
  GavelOptions options;
  options.fixed_duration = params.real("fixed_duration");
  options.deadlines = params.flag("deadlines");
  if (const std::string& counts = params.text("steady_state"); !counts.empty()) {
    for (const std::string_view count : split(counts, ':')) {
      const auto gpus = parse_integer(trim(count));
      if (!gpus || *gpus < 0 || *gpus > 1'000'000) {
        return Error{fmt::format(
            "steady_state is '{}', but must be GPU counts by type, as in 36:36:36", counts)};
      }
      options.steady_gpus.push_back(static_cast<int>(*gpus));
    }
  }
  return make_source<SimulatorJobs>(params, std::move(options), symbols);
}

ParamList gavel_trace_params() {
  ParamList params = common_params({
      {"min_hours", ParamKind::kReal, "1", "the shortest duration", 1e-6, 1e6},
      {"max_hours", ParamKind::kReal, "4", "the longest duration", 1e-6, 1e6},
      {"durations", ParamKind::kInteger, "4", "number of durations, evenly spaced", 1, 1e6},
  });
  for (ParamInfo& info : params) {
    if (info.name == "lam") info.initial = "0";
  }
  return params;
}

Result<Generated> make_gavel_trace(const Params& params, Symbols& symbols) {
  GavelOptions options;
  const double least = params.real("min_hours");
  const double most = params.real("max_hours");
  const auto count = static_cast<int>(params.integer("durations"));
  if (most < least) return Error{"max_hours is less than min_hours"};
  // As numpy.linspace has it: multiples of the step, and the very end at the end.
  const double step = count > 1 ? (most - least) / (count - 1) : 0;
  for (int i = 0; i < count; ++i) {
    options.hours.push_back(i > 0 && i == count - 1 ? most : least + i * step);
  }
  return make_source<TraceJobs>(params, std::move(options), symbols);
}

std::vector<std::string> gavel_job_types() {
  std::vector<std::string> types;
  types.reserve(kTemplates.size());
  for (const Template& one : kTemplates) types.push_back(job_type_of(one));
  return types;
}

}  // namespace muster
