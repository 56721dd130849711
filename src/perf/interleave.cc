#include "perf/interleave.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

double load_of(const StageTimes& times) { return times[0] + times[1]; }
double gpu_of(const StageTimes& times) { return times[2]; }
double network_of(const StageTimes& times) { return times[3]; }

using Places = std::array<const StageTimes*, kStages>;  // null: empty

// Each member uses one resource per place of the cycle, the next member the one before it.
double split_round(const Places& places) {
  double sum = 0;
  for (std::size_t slot = 0; slot < kStages; ++slot) {
    double longest = 0;
    for (std::size_t place = 0; place < kStages; ++place) {
      if (places[place] == nullptr) continue;
      longest = std::max(longest, (*places[place])[(slot + kStages - place) % kStages]);
    }
    sum += longest;
  }
  return sum;
}

// The load stage of a member ends where its GPU stage begins and may take two places, so a cycle
// depends on the one before: two rounds are laid out, until their lengths agree.
double merged_round(const Places& places) {
  constexpr std::size_t kSteps = 2 * kStages;
  constexpr double kAgree = 1e-3;
  std::array<double, kSteps + 1> at{};
  for (std::size_t i = 0; i < kSteps; ++i) {
    double next = 0;
    if (const StageTimes* p = places[(i + 1) % kStages]) {
      next = std::max(next, at[i] + network_of(*p));
    }
    if (const StageTimes* p = places[(i + 2) % kStages]) next = std::max(next, at[i] + gpu_of(*p));
    if (const StageTimes* p = places[(i + 3) % kStages]; p != nullptr && i >= 1) {
      next = std::max(next, at[i - 1] + load_of(*p));
    }
    at[i + 1] = next;
    if (i < kStages) continue;
    const double now = at[i + 1] - at[i - 3];
    const double before = at[i] - at[i - 4];
    if (now > 0 && std::abs(now - before) <= kAgree * std::max(std::abs(now), std::abs(before))) {
      return now;
    }
  }
  return at[kSteps] - at[kStages];
}

}  // namespace

double bare_period(std::span<const StageTimes> members, StageOrder by, bool merged_load) {
  assert(!members.empty() && members.size() <= kStages);
  std::array<std::size_t, kStages> who{};
  std::iota(who.begin(), who.end(), std::size_t{0});
  const auto end = who.begin() + static_cast<std::ptrdiff_t>(members.size());
  double chosen = by == StageOrder::kBest ? kNever : 0;
  const auto offer = [&](double period) {
    chosen = by == StageOrder::kBest ? std::min(chosen, period) : std::max(chosen, period);
  };
  do {
    Places places{};
    for (std::size_t i = 0; i < members.size(); ++i) places[i] = &members[who[i]];
    offer(merged_load ? merged_round(places) : split_round(places));
  } while (std::next_permutation(who.begin(), end));
  if (merged_load && members.size() == 2) {
    // Opposite places: one loads while the other computes and sends.
    const StageTimes& a = members[0];
    const StageTimes& b = members[1];
    offer(std::max(load_of(a), gpu_of(b) + network_of(b)) +
          std::max(load_of(b), gpu_of(a) + network_of(a)));
  }
  return chosen;
}

bool can_interleave(const JobSpec& job) {
  return job.step_ms > 0 &&
         std::any_of(job.stage_ms.begin(), job.stage_ms.end(), [](double ms) { return ms > 0; });
}

Status check_group(std::span<const JobSpec* const> members, std::span<const double> memory_mb,
                   double gpu_memory_mb) {
  if (members.empty() || members.size() > static_cast<std::size_t>(kMaxGroup)) {
    return Error{fmt::format("a group of {} jobs: one to {} jobs can take turns on the same GPUs",
                             members.size(), kMaxGroup)};
  }
  for (const JobSpec* job : members) {
    if (members.size() == 1 || can_interleave(*job)) continue;
    return Error{fmt::format(
        "job {} cannot share GPUs: {}; its trace must give the milliseconds of a step and of at "
        "least one stage",
        display_name(*job),
        job->step_ms > 0 ? "none of its stages has a duration"
                         : "the duration of its step is not known")};
  }
  double sum = 0;
  for (const double memory : memory_mb) sum += memory;
  if (gpu_memory_mb > 0 && sum > gpu_memory_mb) {
    std::string names;
    for (const JobSpec* job : members) {
      names += (names.empty() ? "" : ", ") + display_name(*job);
    }
    return Error{
        fmt::format("jobs {} need {:.0f} MB together, but a GPU has {:.0f}: group fewer of them",
                    names, sum, gpu_memory_mb)};
  }
  return Done{};
}

namespace {

std::array<StageTimes, kMaxGroup> seconds_of(std::span<const JobSpec* const> members) {
  std::array<StageTimes, kMaxGroup> seconds{};
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t s = 0; s < kStages; ++s) seconds[i][s] = members[i]->stage_ms[s] / 1000;
  }
  return seconds;
}

}  // namespace

double Interleaving::period(std::span<const JobSpec* const> members, StageOrder by) const {
  if (members.size() == 1) return solo(*members[0]);
  const auto seconds = seconds_of(members);
  const double bare = bare_period(std::span(seconds).first(members.size()), by, merged_load);
  return bare * (stretch[members.size() - 1] / stretch[0]);
}

// Source: AntMan (OSDI'20) as Muri's simulator has it: how many steps of the holder pass until each
// stage in turn is done, what is left of the last of them being used for the next stage.
double Interleaving::opportunistic_step(const JobSpec& job, const JobSpec& holder) const {
  const StageTimes own = seconds_of(std::array{&job})[0];
  const StageTimes theirs = seconds_of(std::array{&holder})[0];
  const double load = load_of(own);
  double gpu = gpu_of(own);
  double network = network_of(own);
  const double idle_for_load = gpu_of(theirs) + network_of(theirs);
  const double idle_for_gpu = load_of(theirs) + network_of(theirs);
  const double idle_for_network = load_of(theirs) + gpu_of(theirs);
  if (idle_for_load <= 0 || idle_for_gpu <= 0 || idle_for_network <= 0) {
    // The holder never leaves one of the resources: they take turns.
    return solo(job) + solo(holder);
  }
  double steps = std::floor(load / idle_for_load);
  const double load_rest = std::fmod(load, idle_for_load);
  if (load_rest > 0) {
    steps += 1;
    gpu -= std::min({gpu, network_of(theirs), idle_for_load - load_rest});
  }
  steps += std::floor(gpu / idle_for_gpu);
  const double gpu_rest = std::fmod(gpu, idle_for_gpu);
  if (gpu_rest > 0) {
    steps += 1;
    if (gpu_rest < load_of(theirs)) network -= std::min(network, idle_for_network - gpu_rest);
  }
  steps += std::floor(network / idle_for_network);
  if (std::fmod(network, idle_for_network) > load_of(theirs)) steps += 1;
  return std::max(solo(job), steps * solo(holder));
}

double Interleaving::efficiency(std::span<const JobSpec* const> members) const {
  const auto seconds = seconds_of(members);
  double busy = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    double member = 0;
    for (const double stage : seconds[i]) member += stage;
    busy += member;
  }
  return busy / (period(members) * static_cast<double>(kStages));
}

namespace {

// Few profiles make few groups, so periods are kept. A model may serve several runs at once.
class InterleavingModel final : public PerfModel, private StepTimes {
 public:
  explicit InterleavingModel(const Interleaving& rule) : rule_(rule) {}

  double total_work(const JobSpec& job) const override {
    return has_steps(job) ? job.iterations * rule_.solo(job) : job.duration;
  }
  double rate(const JobSpec& job, const RunContext& context) const override {
    if (job.step_ms <= 0 || context.neighbours.empty()) return 1;
    return rule_.solo(job) / round_of(job, context);
  }
  PerfKnowledge knowledge() const override { return {.steps = this, .interleaving = &rule_}; }

 private:
  double steps(const JobSpec& job) const override {
    return has_steps(job) ? job.iterations : job.duration;
  }
  double step_time(const JobSpec& job, const RunContext& context) const override {
    return has_steps(job) ? round_of(job, context) : 1;
  }
  // Seconds in which it makes one step there.
  double round_of(const JobSpec& job, const RunContext& context) const {
    if (context.opportunistic) return opportunistic_step(job, context);
    std::array<const JobSpec*, kMaxGroup> members{&job};
    std::size_t size = 1;
    for (const JobSpec* other : context.neighbours) members[size++] = other;
    if (size == 1) return rule_.solo(job);
    std::sort(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(size),
              [](const JobSpec* a, const JobSpec* b) { return a->stage_ms < b->stage_ms; });
    std::array<StageTimes, kMaxGroup> key{};
    for (std::size_t i = 0; i < size; ++i) key[i] = members[i]->stage_ms;
    const std::lock_guard lock(mutex_);
    const auto [known, fresh] = periods_.try_emplace({size, key}, 0.0);
    if (fresh) known->second = rule_.period(std::span(members).first(size));
    return known->second;
  }
  double opportunistic_step(const JobSpec& job, const RunContext& context) const {
    double longest = rule_.solo(job);
    for (const JobSpec* holder : context.neighbours) {
      longest = std::max(longest, rule_.opportunistic_step(job, *holder));
    }
    return longest;
  }
  static bool has_steps(const JobSpec& job) { return job.step_ms > 0 && job.iterations > 0; }

  Interleaving rule_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::size_t, std::array<StageTimes, kMaxGroup>>, double> periods_;
};

}  // namespace

Result<std::unique_ptr<PerfModel>> make_interleaving(const Params& params, Symbols&) {
  Interleaving rule;
  rule.order = params.text("order") == "worst" ? StageOrder::kWorst : StageOrder::kBest;
  rule.merged_load = params.text("load") == "merged";
  rule.stretch = {params.real("stretch_1"), params.real("stretch_2"), params.real("stretch_3"),
                  params.real("stretch_4")};
  return std::unique_ptr<PerfModel>(std::make_unique<InterleavingModel>(rule));
}

}  // namespace muster
