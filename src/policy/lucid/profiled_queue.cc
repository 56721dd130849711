#include "policy/lucid/profiled_queue.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

namespace muster {
namespace {

// The performance model, with what was measured of jobs themselves.
class MeasuredProfiles final : public PerfModel, private WorkloadProfiles {
 public:
  explicit MeasuredProfiles(const PerfModel& others) : others_(others) {}
  void add(JobId job, WorkloadProfile profile) {
    profile.share_score = score_by_utilisation(profile);
    profiles_.emplace(job, profile);
  }
  // Nothing counts as known of it.
  void hide(JobId job) { profiles_.emplace(job, std::nullopt); }

  double total_work(const JobSpec& job) const override { return others_.total_work(job); }
  double rate(const JobSpec& job, const RunContext& context) const override {
    return others_.rate(job, context);
  }
  double step_rate(const JobSpec& job, const RunContext& context) const override {
    return others_.step_rate(job, context);
  }
  bool counts_steps() const override { return others_.counts_steps(); }
  PerfKnowledge knowledge() const override {
    PerfKnowledge known = others_.knowledge();
    known.profiles = this;
    return known;
  }
  Status check(const JobSpec& job) const override { return others_.check(job); }
  bool knows_nothing_of(const JobSpec& job) const override { return others_.knows_nothing_of(job); }
  HostResources wanted_host(const JobSpec& job) const override { return others_.wanted_host(job); }

 private:
  const WorkloadProfile* of(Symbol model) const override { return profile_of(others_, model); }
  const WorkloadProfile* of_job(const JobSpec& job) const override {
    const auto found = profiles_.find(job.id);
    if (found == profiles_.end()) return profile_of(others_, job);
    return found->second ? &*found->second : nullptr;
  }

  const PerfModel& others_;
  std::map<JobId, std::optional<WorkloadProfile>> profiles_;
};

// The nodes that have nothing of the profiler's.
std::shared_ptr<const ClusterState> untouched_nodes(const ProfiledQueueSettings& settings,
                                                    const ClusterSpec& cluster) {
  auto rest = std::make_shared<ClusterSpec>();
  rest->partitions = cluster.partitions;
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    const bool kept = std::any_of(settings.gpus.begin(), settings.gpus.end(),
                                  [i](const NodeGpus& one) { return index(one.node) == i; });
    if (!kept) rest->nodes.push_back(cluster.nodes[i]);
  }
  if (rest->nodes.empty()) return nullptr;
  auto state = std::make_shared<ClusterState>(std::move(rest));
  state->count_host(settings.count_host);
  return state;
}

class ProfiledQueue final : public PlacementPolicy {
 public:
  ProfiledQueue(ProfiledQueueSettings settings, const ClusterSpec& cluster,
                std::unique_ptr<PlacementPolicy> queue)
      : settings_(std::move(settings)),
        untouched_(untouched_nodes(settings_, cluster)),
        queue_(std::move(queue)) {}
  ProfiledQueue(const ProfiledQueue& other)
      : settings_(other.settings_),
        untouched_(other.untouched_),
        queue_(other.queue_->clone()),
        left_(other.left_) {}

  PlacementTraits traits() const override { return queue_->traits(); }
  Plan::Depth depth(const ClusterState&, const SchedulingTraits&) const override {
    return Plan::Depth::kAll;
  }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<ProfiledQueue>(*this);
  }
  bool checkpoint(Archive& archive) override {
    archive.value(left_);
    return queue_->checkpoint(archive);
  }

  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             PlacementDraft& draft) override {
    let_go(view, draft);
    std::vector<AllocationRequest> fresh;
    std::set<Slot> theirs;
    for (const AllocationRequest& request : plan.requests()) {
      if (!is_fresh(view, request)) continue;
      fresh.push_back(request);
      theirs.insert(request.lead());
    }
    Plan rest = plan;
    rest.drop([&](Slot job) { return theirs.contains(job) || is_profiled_now(view.jobs[job]); });
    std::sort(fresh.begin(), fresh.end(), [&view](const auto& a, const auto& b) {
      return a.gpus != b.gpus ? a.gpus < b.gpus
                              : view.jobs[a.lead()].spec.id < view.jobs[b.lead()].spec.id;
    });
    for (const AllocationRequest& request : fresh) profile(view, request, draft);

    const MeasuredProfiles perf = measured(view);
    const View seen{view.now,      view.turn_length, view.jobs,    view.cluster, perf,
                    view.forecast, view.promises,    view.metrics, view.prices};
    const HostLimit kept = draft.keep(settings_.gpus);
    queue_->place(seen, traits, rest, draft);
  }

  // It must fit without the profiler's GPUs: on the other nodes, or on what is left of one.
  bool ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const override {
    if (untouched_ != nullptr && queue_->ever_fits(*untouched_, job, gpus)) return true;
    const HostResources host = cluster.host_wanted(job);
    const auto pools = cluster.pools_for(job.partition, job.gpu_type);
    const bool fits =
        std::any_of(settings_.gpus.begin(), settings_.gpus.end(), [&](const NodeGpus& kept) {
          const bool open =
              std::find(pools.begin(), pools.end(), cluster.pool_of(kept.node)) != pools.end();
          const int left = cluster.node(kept.node).gpus - kept.count();
          return open && gpus <= std::min(left, cluster.host_room_ever(kept.node, host));
        });
    return fits && queue_->ever_fits(cluster, job, gpus);
  }

  Seconds wake(const View& view) const override {
    constexpr Seconds kSoon = 1e-3;  // a job that has left joins the queue at the next turn
    Seconds next = queue_->wake(view);
    if (left_) next = std::min(next, view.now + kSoon);
    for (const Slot slot : view.jobs.running()) {
      const Job& job = view.jobs[slot];
      if (is_profiled_now(job) && !job.starting()) next = std::min(next, end_of(job));
    }
    return next;
  }

 private:
  Seconds end_of(const Job& job) const { return job.held_since + settings_.limit; }

  bool is_profiled_now(const Job& job) const {
    if (!job.running() || job.held_before > 0) return false;
    return std::any_of(settings_.gpus.begin(), settings_.gpus.end(), [&job](const NodeGpus& kept) {
      return kept.node == job.gpus[0].node && (kept.mask & job.gpus[0].mask) != 0;
    });
  }

  // Whether it has to be profiled first, and can be on what works now.
  bool is_fresh(const View& view, const AllocationRequest& request) const {
    const Job& job = view.jobs[request.lead()];
    if (request.size != 1 || !job.waiting() || job.first_start != kNever) return false;
    if (request.gpus > settings_.largest) return false;
    const ClusterState& cluster = view.cluster;
    const HostResources host = cluster.host_wanted(job.spec);
    return std::any_of(settings_.gpus.begin(), settings_.gpus.end(), [&](const NodeGpus& kept) {
      const std::uint64_t works = kept.mask & cluster.healthy_mask(kept.node);
      return std::popcount(works) >= request.gpus && !cluster.drained(kept.node) &&
             is_open(view, kept.node, request) &&
             cluster.host_room_ever(kept.node, host) >= request.gpus;
    });
  }

  bool is_open(const View& view, NodeId node, const AllocationRequest& request) const {
    const auto pools = pools_of(view, view.cluster, request);
    return std::find(pools.begin(), pools.end(), view.cluster.pool_of(node)) != pools.end();
  }

  void let_go(const View& view, PlacementDraft& draft) {
    left_ = false;
    for (const Slot slot : view.jobs.running()) {
      const Job& job = view.jobs[slot];
      if (job.starting() || !is_profiled_now(job) || view.now < end_of(job)) continue;
      draft.stop(slot, Reason::kProfiled);
      left_ = true;
    }
  }

  void profile(const View& view, const AllocationRequest& request, PlacementDraft& draft) const {
    const Symbol partition = view.jobs[request.lead()].spec.partition;
    const HostLimit limit = draft.limit_to_host(request);
    for (const NodeGpus& kept : settings_.gpus) {
      const std::uint64_t free = draft.cluster().free_mask(kept.node) & kept.mask;
      if (std::popcount(free) < request.gpus || !is_open(view, kept.node, request)) continue;
      if (draft.cluster().quota_left(partition) < request.gpus) continue;
      GpuSet gpus;
      gpus.add(kept.node, lowest_bits(free, request.gpus));
      return draft.start(request, std::move(gpus), Reason::kFirstInOrder);
    }
  }

  MeasuredProfiles measured(const View& view) const {
    MeasuredProfiles perf(view.perf);
    // No job joins one that is being profiled: it is measured alone, and soon leaves.
    for (const Slot slot : view.jobs.running()) {
      if (is_profiled_now(view.jobs[slot])) perf.hide(view.jobs[slot].spec.id);
    }
    if (view.metrics == nullptr) return perf;
    for (const Slot slot : view.jobs.active()) {
      const std::optional<double> busy = view.metrics->of(slot, settings_.gpu_util);
      if (!busy) continue;
      WorkloadProfile profile;
      profile.gpu_util = *busy;
      profile.memory_util = view.metrics->of(slot, settings_.memory_util).value_or(0);
      profile.memory_mb = view.metrics->of(slot, settings_.memory_mb).value_or(0);
      perf.add(view.jobs[slot].spec.id, profile);
    }
    return perf;
  }

  ProfiledQueueSettings settings_;
  std::shared_ptr<const ClusterState> untouched_;  // null: there are none
  std::unique_ptr<PlacementPolicy> queue_;
  bool left_ = false;  // a job left in the last turn
};

}  // namespace

std::unique_ptr<PlacementPolicy> make_profiled_queue(ProfiledQueueSettings settings,
                                                     const ClusterSpec& cluster,
                                                     std::unique_ptr<PlacementPolicy> queue) {
  return std::make_unique<ProfiledQueue>(std::move(settings), cluster, std::move(queue));
}

}  // namespace muster
