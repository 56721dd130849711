#include <algorithm>
#include <vector>

#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: Synergy (OSDI'22). GPUs come with CPU cores and memory, and jobs differ in how many they
// need.
//
// * fair: every GPU gets its part of its node's cores and memory.
// * greedy: every job gets what it would like, or waits.
// * tune: as greedy; a job that does not fit gets its fair part. If others hold more than their
//   fair part and it still does not fit, those with most cores per GPU are cut back to theirs.
//
// A job goes to the node with fewest free GPUs that has room, else node by node from the fewest
// free up.
class Synergy final : public WalkingPlacement {
 public:
  enum class Mode { kFair, kGreedy, kTune };
  Synergy(bool backfill, Mode mode) : WalkingPlacement(backfill), mode_(mode) {}
  bool ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const override {
    // A job that asks for more cores than there are gets its fair part.
    if (gpus > cluster.ever_for(job.partition, job.gpu_type)) return false;
    if (mode_ != Mode::kGreedy || job.gpus <= 0) return true;
    // A greedy job that wants more cores beside its GPUs than there are would wait for ever.
    const HostResources wanted{job.cpus / job.gpus, job.memory_gb / job.gpus};
    int room = 0;
    for (const PoolId pool : cluster.pools_for(job.partition, job.gpu_type)) {
      for (const NodeId id : cluster.pool(pool).nodes) room += cluster.host_room_ever(id, wanted);
    }
    return gpus <= room;
  }
  PlacementTraits traits() const override {
    if (mode_ == Mode::kFair) return {};
    return {.needs = kNeeds, .counts_host = true};
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<Synergy>(*this);
  }

 protected:
  bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
            GpuSet& gpus) override {
    const JobSpec& spec = view.jobs[request.lead()].spec;
    const auto pools = pools_of(view, cluster, request);
    if (mode_ != Mode::kFair) {
      host_ = view.perf.wanted_host(spec);
      const HostResources fair = fair_share(cluster, pools);
      if (host_.cpus_per_gpu <= 0) host_.cpus_per_gpu = fair.cpus_per_gpu;
      if (host_.memory_per_gpu <= 0) host_.memory_per_gpu = fair.memory_per_gpu;
      if (find_with_host(cluster, pools, request.gpus, gpus)) return true;
      if (mode_ == Mode::kGreedy) return false;
    }
    host_ = fair_share(cluster, pools);
    return find_with_host(cluster, pools, request.gpus, gpus);
  }

  bool chooses_host() const override { return true; }
  HostResources host_for(const View&, const AllocationRequest&) const override { return host_; }

  bool make_room(const View& view, const AllocationRequest& request,
                 PlacementDraft& draft) override {
    if (mode_ != Mode::kTune) return false;
    const ClusterState& cluster = draft.cluster();
    const HostResources fair = fair_share(cluster, pools_of(view, cluster, request));
    over_.clear();
    for (const Slot slot : view.jobs.active()) {
      if (!draft.holds(slot)) continue;
      const HostResources host = draft.host_of(slot);
      if (host.cpus_per_gpu > fair.cpus_per_gpu || host.memory_per_gpu > fair.memory_per_gpu) {
        over_.push_back({host.cpus_per_gpu, host.memory_per_gpu, slot});
      }
    }
    // Jobs that hold most are cut back first, until the request fits.
    std::sort(over_.begin(), over_.end(), [](const Over& a, const Over& b) {
      if (a.cpus != b.cpus) return a.cpus > b.cpus;
      return a.memory != b.memory ? a.memory > b.memory : a.slot < b.slot;
    });
    for (const Over& over : over_) {
      const HostResources host = draft.host_of(over.slot);
      draft.rehost(over.slot, {std::min(host.cpus_per_gpu, fair.cpus_per_gpu),
                               std::min(host.memory_per_gpu, fair.memory_per_gpu)});
      host_ = fair;
      scratch_.clear();
      const auto pools = pools_of(view, cluster, request);
      if (find_with_host(cluster, pools, request.gpus, scratch_)) return true;
    }
    return false;
  }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kHost, "every job wants its fair part"}};
  struct Over {
    double cpus;
    double memory;
    Slot slot;
  };

  // The part of a node that goes with one GPU. Where nodes differ, the least: so that every GPU can
  // have it.
  static HostResources fair_share(const ClusterState& cluster, std::span<const PoolId> pools) {
    HostResources fair;
    for (const PoolId pool : pools) {
      for (const NodeId id : cluster.pool(pool).nodes) {
        const NodeSpec& node = cluster.node(id);
        if (node.gpus == 0) continue;
        lower(fair.cpus_per_gpu, node.cpus / node.gpus);
        lower(fair.memory_per_gpu, node.memory_gb / node.gpus);
      }
    }
    return fair;
  }
  // Zero means plentiful, here as in the cluster's description.
  static void lower(double& least, double part) {
    if (part > 0 && (least == 0 || part < least)) least = part;
  }

  bool find_with_host(const ClusterState& cluster, std::span<const PoolId> pools, int wanted,
                      GpuSet& gpus) const {
    int largest = 0;
    for (const PoolId pool : pools) largest = std::max(largest, cluster.pool(pool).largest);
    const auto visit = [&](auto&& each) {
      for (int free = 1; free <= largest; ++free) {
        for (const PoolId id : pools) {
          if (free > cluster.pool(id).largest) continue;
          const NodeSet& nodes = cluster.pool(id).by_free[static_cast<std::size_t>(free)];
          for (NodeId node = nodes.first(); node != kNoNode; node = nodes.after(node)) {
            if (!each(node)) return;
          }
        }
      }
    };
    int left = wanted;
    visit([&](NodeId node) {
      if (cluster.host_room(node, host_) < wanted) return true;
      gpus.add(node, lowest_bits(cluster.free_mask(node), wanted));
      left = 0;
      return false;
    });
    if (left == 0) return true;
    visit([&](NodeId node) {
      const int part = std::min(left, cluster.host_room(node, host_));
      if (part == 0) return true;
      gpus.add(node, lowest_bits(cluster.free_mask(node), part));
      left -= part;
      return left > 0;
    });
    if (left == 0) return true;
    gpus.clear();
    return false;
  }

  Mode mode_;
  HostResources host_;
  std::vector<Over> over_;
  GpuSet scratch_;
};

}  // namespace

PolicyInfo<PlacementPolicy> synergy_row() {
  return {"synergy",
          "GPUs together with the CPU cores and memory that jobs need",
          "Synergy, 2022",
          {{"mode",
            ParamKind::kText,
            "tune",
            "how cores are allocated",
            -1,
            1,
            {"fair", "greedy", "tune"}},
           kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            const std::string& mode = params.text("mode");
            return std::make_unique<Synergy>(params.flag("backfill"),
                                             mode == "fair"     ? Synergy::Mode::kFair
                                             : mode == "greedy" ? Synergy::Mode::kGreedy
                                                                : Synergy::Mode::kTune);
          }};
}

}  // namespace muster
