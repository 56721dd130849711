#include "run/assembly/needs_check.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "model/belief.h"
#include "run/config/declarations.h"
#include "run/config/plugins.h"

namespace muster {
namespace {

// What has to be counted job by job to know whether the need is met; empty: nothing. The length of
// a job is known where it has an estimate, if estimates are what policies are told.
std::optional<Knowledge> counted_for(Knowledge which, const KnownInputs& inputs) {
  switch (which) {
    case Knowledge::kDuration:
      if (inputs.durations != Durations::kEstimate || inputs.estimates_drawn) return std::nullopt;
      return Knowledge::kEstimate;
    case Knowledge::kForecast:
    case Knowledge::kNodeForecast:
    case Knowledge::kPrices:
      return std::nullopt;
    default:
      return which;
  }
}

static_assert(kUnknownDuration == 3600, "kUnknownLength says so");

RunContext on(int gpus) {
  RunContext context;
  context.gpus = gpus;
  return context;
}

// Whether the model says how fast the job is when co-located with another one. On a type that the
// cluster has: tables know nothing of GPUs without one.
bool slowed_by_itself(const PerfModel& perf, const JobSpec& job, Symbol first_type) {
  RunContext alone = on(job.gpus);
  alone.gpu_type = job.gpu_type != kNoSymbol ? job.gpu_type : first_type;
  const std::array<const JobSpec*, 1> itself = {&job};
  RunContext co_located = alone;
  co_located.neighbours = itself;
  return perf.rate(job, co_located) != perf.rate(job, alone);
}

}  // namespace

std::string_view remedy(Knowledge which) {
  switch (which) {
    case Knowledge::kDuration:
      return "add --durations estimate and --estimates FILE (muster learn writes one) or a trace "
             "with a column estimate_s, or --durations true for a bound";
    case Knowledge::kEstimate:
      return "give --estimates FILE (muster learn writes one), or a trace with a column estimate_s";
    case Knowledge::kDeadline:
      return "give a trace with a column deadline_s";
    case Knowledge::kPriority:
      return "give a trace whose column priority is below 0 for such jobs";
    case Knowledge::kSizes:
      return "give a trace with columns min_gpus and max_gpus";
    case Knowledge::kScaling:
      return "add --perf scaling, or measured speeds: --perf throughput-tables:folder=FOLDER";
    case Knowledge::kGpuTypes:
      return "add --perf gpu-types:speeds=\"TYPE=SPEED,TYPE=SPEED\", or measured speeds: --perf "
             "throughputs:file=FILE";
    case Knowledge::kLocality:
      return "add --perf locality";
    case Knowledge::kProfile:
      return "add --perf colocation:profiles=FILE, and a trace whose column model names them";
    case Knowledge::kPairs:
      return "add --perf sharing, or measured speeds: --perf colocation:profiles=FILE,pairs=FILE";
    case Knowledge::kStageTimes:
      return "give a trace of a format with stage times (docs/trace-formats.md)";
    case Knowledge::kHost:
      return "give a trace with columns cpus or memory_gb, or add --perf cpu-profiles";
    case Knowledge::kForecast:
      return "give one: --set forecast.file=FILE";
    case Knowledge::kNodeForecast:
      return "give one: --set forecast.file=FILE --set forecast.nodes=COLUMN";
    case Knowledge::kPrices:
      return "give them: --set prices.table.TYPE=DOLLARS, or --set prices.file=FILE";
  }
  return "";
}

JobCensus::JobCensus(std::span<const NeedyPolicy> policies, const KnownInputs& inputs)
    : inputs_(inputs), counts_(knowledge_list().size()) {
  for (const NodeSpec& node : inputs.cluster->nodes) {
    if (std::find(gpu_types_.begin(), gpu_types_.end(), node.gpu_type) == gpu_types_.end()) {
      gpu_types_.push_back(node.gpu_type);
    }
  }
  for (const NeedyPolicy& policy : policies) {
    for (const Need& need : policy.needs) {
      const auto counted = counted_for(need.of, inputs);
      if (counted && std::find(asked_.begin(), asked_.end(), *counted) == asked_.end()) {
        asked_.push_back(*counted);
      }
    }
  }
}

void JobCensus::add(const JobSpec& job) {
  for (const Knowledge which : asked_) {
    const auto [wanted, known] = look(which, job);
    KnownOf& count = counts_[static_cast<std::size_t>(which)];
    count.wanted += wanted ? 1 : 0;
    count.known += wanted && known ? 1 : 0;
  }
}

std::pair<bool, bool> JobCensus::look(Knowledge which, const JobSpec& job) const {
  const PerfModel& perf = *inputs_.perf;
  const bool rated = job.gpus > 0 && perf.check(job);
  const double alone = rated ? perf.rate(job, on(job.gpus)) : 1;
  switch (which) {
    case Knowledge::kEstimate:
      return {true, inputs_.durations != Durations::kNone &&
                        (inputs_.estimates_drawn || job.estimate > 0)};
    case Knowledge::kDeadline:
      return {true, job.deadline != kNever};
    case Knowledge::kPriority:
      return {true, job.priority < 0};
    case Knowledge::kSizes:
      return {true, job.elastic()};
    case Knowledge::kScaling: {
      const int least = std::max(1, job.min_gpus);
      if (!rated || !job.elastic() || least == job.max_gpus) return {false, false};
      return {true, perf.rate(job, on(least)) != perf.rate(job, on(job.max_gpus))};
    }
    case Knowledge::kGpuTypes: {
      // Where all GPUs are of one type there is nothing to know.
      if (!rated || gpu_types_.size() < 2 || job.gpu_type != kNoSymbol) return {false, false};
      return {true, std::any_of(gpu_types_.begin(), gpu_types_.end(), [&](Symbol type) {
                RunContext context = on(job.gpus);
                context.gpu_type = type;
                RunContext first = on(job.gpus);
                first.gpu_type = gpu_types_.front();
                return perf.rate(job, context) != perf.rate(job, first);
              })};
    }
    case Knowledge::kLocality: {
      if (!rated || job.gpus < 2 || inputs_.cluster->nodes.size() < 2) return {false, false};
      RunContext apart = on(job.gpus);
      apart.nodes = 2;
      return {true, perf.rate(job, apart) != alone};
    }
    case Knowledge::kProfile:
      return {true, profile_of(perf, job.model) != nullptr};
    case Knowledge::kPairs:
      return {rated, rated && slowed_by_itself(perf, job, gpu_types_.front())};
    case Knowledge::kStageTimes:
      return {true, std::any_of(job.stage_ms.begin(), job.stage_ms.end(),
                                [](double stage) { return stage > 0; })};
    case Knowledge::kHost: {
      const HostResources host = perf.wanted_host(job);
      return {true, host.cpus_per_gpu > 0 || host.memory_per_gpu > 0};
    }
    case Knowledge::kDuration:
    case Knowledge::kForecast:
    case Knowledge::kNodeForecast:
    case Knowledge::kPrices:
      break;
  }
  return {false, false};
}

namespace {

// Empty: the need is met. Otherwise what is missing, as in "needs deadlines, but ...".
std::string missing(const Need& need, const KnownInputs& inputs, const JobCensus& census) {
  switch (need.of) {
    case Knowledge::kDuration:
      if (inputs.durations == Durations::kNone) return "durations = \"none\" hides them";
      break;
    case Knowledge::kForecast:
      return inputs.forecast ? "" : "there is none";
    case Knowledge::kNodeForecast:
      return inputs.node_forecast ? "" : "there is none";
    case Knowledge::kPrices:
      return inputs.prices ? "" : "there are none";
    default:
      break;
  }
  const auto counted = counted_for(need.of, inputs);
  if (!counted) return "";
  const KnownOf count = census.of(*counted);
  const bool met = count.wanted == 0 || count.known == count.wanted ||
                   (info_of(need.of).of_some && count.known > 0);
  if (met) return "";
  if (info_of(need.of).of_some) return fmt::format("there are none among {} jobs", count.wanted);
  if (need.of == Knowledge::kDuration) {
    return fmt::format("{} of {} jobs have no estimate", count.wanted - count.known, count.wanted);
  }
  return fmt::format("{} of {} jobs have none", count.wanted - count.known, count.wanted);
}

}  // namespace

Result<std::vector<NeedyPolicy>> needy_policies(const RunConfig& config) {
  std::vector<NeedyPolicy> policies;
  std::optional<Error> error;
  const auto add = [&](std::string_view kind, const Choice& choice) {
    if (choice.empty() || error) return;
    auto declared = declaration_of(kind, choice, config.loader.get());
    if (!declared) {
      error = declared.error();
      return;
    }
    // Prices may be a parameter of the policy.
    const auto own = choice.params.find("prices");
    if (own != choice.params.end() && !own->second.empty()) {
      std::erase_if(declared->needs,
                    [](const Need& need) { return need.of == Knowledge::kPrices; });
    }
    const std::string name = fmt::format("{} '{}'", plugin_kind(kind).noun, choice.name);
    const bool known = std::any_of(policies.begin(), policies.end(),
                                   [&](const NeedyPolicy& other) { return other.name == name; });
    if (!declared->needs.empty() && !known) {
      policies.push_back({name, std::move(declared->needs), declared->keeps_truth});
    }
  };
  if (config.policy_sets.empty()) {
    add("scheduling", config.scheduling);
    add("placement", config.placement);
    add("admission", config.admission);
  }
  for (const PolicySetConfig& policy_set : config.policy_sets) {
    add("scheduling", policy_set.scheduling);
    add("placement", policy_set.placement);
    add("admission", policy_set.admission);
  }
  add("selector", config.selector);
  add("scaling", config.scaling);
  if (error) return *error;
  return policies;
}

bool clairvoyant(std::span<const NeedyPolicy> policies) {
  return std::any_of(policies.begin(), policies.end(),
                     [](const NeedyPolicy& policy) { return clairvoyant(Needs(policy.needs)); });
}

Result<UnmetNeeds> unmet_needs(std::span<const NeedyPolicy> policies, const KnownInputs& inputs,
                               const JobCensus& census) {
  UnmetNeeds unmet;
  for (const NeedyPolicy& policy : policies) {
    for (const Need& need : policy.needs) {
      const bool of_length = need.of == Knowledge::kDuration;
      if (of_length && policy.keeps_truth && inputs.durations != Durations::kTrue) {
        unmet.clairvoyant = true;
        unmet.warnings.push_back(
            fmt::format("{} has its own record of run times and knows how long jobs run, although "
                        "durations is \"{}\"",
                        policy.name, durations_name(inputs.durations)));
        continue;
      }
      const std::string lacks = missing(need, inputs, census);
      if (lacks.empty()) continue;
      const std::string problem =
          fmt::format("{} needs {}, but {}", policy.name, info_of(need.of).name, lacks);
      if (need.refuses() && !of_length) {
        return Error{fmt::format("{}; {}", problem, remedy(need.of))};
      }
      // Where lengths are beliefs, one rule holds for estimates, too.
      const bool unknown_length =
          of_length || (need.of == Knowledge::kEstimate && inputs.durations != Durations::kTrue);
      unmet.warnings.push_back(fmt::format("{}: {}. To change that, {}", problem,
                                           unknown_length ? kUnknownLength : need.otherwise,
                                           remedy(need.of)));
      unmet.clairvoyant =
          unmet.clairvoyant || (need.otherwise_clairvoyant && inputs.durations == Durations::kTrue);
    }
  }
  return unmet;
}

Result<RunNeeds> RunNeeds::make(const RunConfig& config) {
  auto policies = needy_policies(config);
  if (!policies) return policies.error();
  RunNeeds needs;
  needs.policies_ = std::move(*policies);
  needs.inputs_.durations = config.durations;
  needs.inputs_.estimates_drawn = !config.errors.empty();
  return needs;
}

bool RunNeeds::about_jobs() const {
  return std::any_of(policies_.begin(), policies_.end(), [this](const NeedyPolicy& policy) {
    return std::any_of(policy.needs.begin(), policy.needs.end(), [this](const Need& need) {
      return counted_for(need.of, inputs_).has_value();
    });
  });
}

Status RunNeeds::check(const KnownInputs& inputs, const std::vector<JobSpec>* jobs) {
  inputs_ = inputs;
  at_hand_ = jobs != nullptr;
  census_ = std::make_shared<JobCensus>(policies_, inputs_);
  if (jobs == nullptr && about_jobs()) return Done{};
  for (std::size_t i = 0; about_jobs() && i < jobs->size(); ++i) census_->add((*jobs)[i]);
  const auto unmet = unmet_needs(policies_, inputs_, *census_);
  if (!unmet) return unmet.error();
  return Done{};
}

bool RunNeeds::complete() const { return at_hand_ || !about_jobs(); }

std::vector<std::string> RunNeeds::warnings() const {
  if (census_ == nullptr) return {};
  auto unmet = unmet_needs(policies_, inputs_, *census_);
  if (!unmet) return {unmet.error().message};
  return std::move(unmet->warnings);
}

bool RunNeeds::clairvoyant() const {
  if (inputs_.durations == Durations::kTrue && muster::clairvoyant(policies_)) return true;
  const auto unmet = census_ != nullptr ? unmet_needs(policies_, inputs_, *census_)
                                        : Result<UnmetNeeds>(UnmetNeeds{});
  return unmet && unmet->clairvoyant;
}

namespace {

class CountedJobs final : public JobSource {
 public:
  CountedJobs(std::shared_ptr<JobCensus> census, std::unique_ptr<JobSource> inner)
      : census_(std::move(census)), inner_(std::move(inner)) {}
  const JobSpec* peek() override { return inner_->peek(); }
  void pop() override {
    if (const JobSpec* job = inner_->peek()) census_->add(*job);
    inner_->pop();
  }
  bool finished() override { return inner_->finished(); }
  std::optional<Error> error() const override { return inner_->error(); }
  std::vector<std::string> notes() const override { return inner_->notes(); }
  bool more_after(Seconds time) const override { return inner_->more_after(time); }

 private:
  std::shared_ptr<JobCensus> census_;
  std::unique_ptr<JobSource> inner_;
};

}  // namespace

std::unique_ptr<JobSource> RunNeeds::counted(std::unique_ptr<JobSource> source) const {
  if (census_ == nullptr || !about_jobs()) return source;
  return std::make_unique<CountedJobs>(census_, std::move(source));
}

}  // namespace muster
