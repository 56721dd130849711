#include <algorithm>

#include "policy/table.h"

namespace muster {
namespace {

// Source: AntMan (OSDI'20) as Muri's simulator has it. A job with guaranteed resources goes to the
// first node with enough free GPUs; where there is none it reserves what the emptiest node has and
// absorbs what becomes free there until it is complete. One larger than a node reserves whole nodes
// in the same way. An opportunistic job (priority below 0) takes the least used GPUs below a limit,
// wherever they are. Use is pretended: an opportunistic job counts 0.9, a guaranteed job 0.1 and
// its reservation 0.09, so that no GPU has two of a kind, and an opportunistic job takes GPUs that
// nobody holds first, then reserved ones, then held ones. Sums and differences are rounded as
// there, where a GPU that has seen more opportunistic jobs and holders comes out a hair below one
// that has seen fewer.
class AntManPlacement final : public PlacementPolicy {
 public:
  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             PlacementDraft& draft) override {
    if (traits.preemptive) stop_the_rest(view, plan, draft);
    look(view, draft);
    for (const AllocationRequest& request : plan.requests()) {
      const Slot slot = request.lead();
      if (draft.holds(slot)) continue;
      allow(view, draft, request);
      const Job& job = view.jobs[slot];
      const bool placed = job.spec.priority < 0 ? start_opportunistic(request, job.spec.id, draft)
                                                : guarantee(request, job.spec.id, draft);
      if (!placed) draft.block(request, why_not_placed(view, draft.cluster(), request));
    }
  }
  PlacementTraits traits() const override { return {.needs = kNeeds, .co_locates = true}; }
  Plan::Depth depth(const ClusterState&, const SchedulingTraits&) const override {
    return Plan::Depth::kAll;
  }
  bool ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const override {
    if (!PlacementPolicy::ever_fits(cluster, job, gpus)) return false;
    if (job.priority < 0) return true;
    std::vector<int> sizes;
    for (const PoolId pool : cluster.pools_for(job.partition, job.gpu_type)) {
      for (const NodeId node : cluster.pool(pool).nodes) sizes.push_back(cluster.node(node).gpus);
    }
    std::sort(sizes.rbegin(), sizes.rend());
    if (sizes.empty() || gpus <= sizes[0]) return !sizes.empty();
    // Whole nodes of the largest size, and one more for the rest.
    const auto whole = static_cast<std::size_t>(gpus / sizes[0]);
    const int rest = gpus % sizes[0];
    return sizes.size() >= whole && sizes[whole - 1] == sizes[0] &&
           (rest == 0 || (sizes.size() > whole && sizes[whole] >= rest));
  }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<AntManPlacement>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kPriority, "no GPU is shared"}};
  struct Node {
    std::uint64_t usable = 0;
    std::uint64_t held = 0;      // by a guaranteed job that runs
    std::uint64_t reserved = 0;  // for one that waits
    bool allowed = true;         // to the job in question
    std::uint64_t open() const { return allowed ? usable & ~held & ~reserved : 0; }
  };
  struct Gpu {
    double use = 0;
    JobId holder = kNoJob;  // runs; guaranteed
    JobId opportunistic = kNoJob;
  };
  static constexpr double kHeld = 0.10;
  static constexpr double kStarted = 0.01;  // what a start adds to a reservation
  static constexpr double kReserved = kHeld - kStarted;
  static constexpr double kOpportunistic = 0.90;
  static constexpr double kLimit = 0.8;

  struct Reservation {
    JobId job = kNoJob;
    int wanted = 0;
    std::vector<NodeGpus> parts;
    int gpus() const {
      int sum = 0;
      for (const NodeGpus& part : parts) sum += part.count();
      return sum;
    }
  };

  // Where a plan names everyone who may run: whoever runs at the size asked for stays, as far as
  // the number of GPUs goes.
  void stop_the_rest(const View& view, const Plan& plan, PlacementDraft& draft) {
    int left = draft.cluster().usable_gpus();
    std::vector<char> stays(view.jobs.slots(), 0);
    for (const AllocationRequest& request : plan.requests()) {
      if (request.gpus > left) continue;
      left -= request.gpus;
      const Job& job = view.jobs[request.lead()];
      if (job.running() && job.gpus.gpus() == request.gpus) stays[index(request.lead())] = 1;
    }
    for (const Slot slot : view.jobs.running()) {
      if (stays[index(slot)] == 0) draft.stop(slot, Reason::kOutranked);
    }
  }

  // Brings the picture of the nodes up to date; reservations on GPUs that failed, or of jobs that
  // left, are dropped.
  void look(const View& view, const PlacementDraft& draft) {
    const ClusterState& cluster = draft.cluster();
    if (gpus_.size() != cluster.node_count()) {
      gpus_.assign(cluster.node_count(), {});
      reservations_.clear();
    }
    nodes_.assign(cluster.node_count(), {});
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const NodeId id{static_cast<std::uint32_t>(i)};
      nodes_[i].usable = cluster.healthy_mask(id);
      nodes_[i].held = nodes_[i].usable & ~cluster.free_mask(id);
      gpus_[i].resize(static_cast<std::size_t>(cluster.node(id).gpus));
    }
    running_.clear();
    for (const Slot slot : view.jobs.running()) {
      if (draft.holds(slot)) running_.push_back(view.jobs[slot].spec.id);
    }
    for (std::vector<Gpu>& node : gpus_) {
      for (Gpu& gpu : node) {
        if (gone(gpu.holder)) gpu.use -= kHeld;
        if (gone(gpu.opportunistic)) gpu.use -= kOpportunistic;
        if (gone(gpu.holder)) gpu.holder = kNoJob;
        if (gone(gpu.opportunistic)) gpu.opportunistic = kNoJob;
      }
    }
    reservations_.resize(view.jobs.slots());
    for (std::size_t i = 0; i < reservations_.size(); ++i) {
      Reservation& reservation = reservations_[i];
      if (reservation.parts.empty()) continue;
      const Job& job = view.jobs[Slot{static_cast<std::uint32_t>(i)}];
      if (job.spec.id != reservation.job || !job.waiting()) drop(reservation);
      for (NodeGpus& part : reservation.parts) {
        Node& node = nodes_[index(part.node)];
        add_use(part.node, part.mask & ~node.open(), -kReserved);
        part.mask &= node.open();
        node.reserved |= part.mask;
      }
      std::erase_if(reservation.parts, [](const NodeGpus& part) { return part.mask == 0; });
    }
  }

  void drop(Reservation& reservation) {
    for (const NodeGpus& part : reservation.parts) {
      add_use(part.node, part.mask, -kReserved);
      nodes_[index(part.node)].reserved &= ~part.mask;
    }
    reservation.parts.clear();
  }

  // Leaves to the request what its partition and GPU type allow.
  void allow(const View& view, const PlacementDraft& draft, const AllocationRequest& request) {
    const ClusterState& cluster = draft.cluster();
    const bool over = cluster.quota_left(view.jobs[request.lead()].spec.partition) < request.gpus;
    const auto pools = pools_of(view, cluster, request);
    largest_ = 1;
    for (const PoolId pool : pools) largest_ = std::max(largest_, cluster.pool(pool).largest);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const PoolId pool = cluster.pool_of(NodeId{static_cast<std::uint32_t>(i)});
      nodes_[i].allowed = !over && std::find(pools.begin(), pools.end(), pool) != pools.end();
    }
  }

  bool gone(JobId job) const {
    return job != kNoJob && !std::binary_search(running_.begin(), running_.end(), job);
  }

  void add_use(NodeId node, std::uint64_t mask, double use) {
    for (std::size_t i = 0; i < gpus_[index(node)].size(); ++i) {
      if ((mask >> i & 1U) != 0) gpus_[index(node)][i].use += use;
    }
  }

  void reserve(Reservation& reservation, std::size_t node, std::uint64_t mask) {
    nodes_[node].reserved |= mask;
    const NodeId id{static_cast<std::uint32_t>(node)};
    add_use(id, mask, kReserved);
    for (NodeGpus& part : reservation.parts) {
      if (part.node != id) continue;
      part.mask |= mask;
      return;
    }
    reservation.parts.push_back({id, mask});
  }

  bool guarantee(const AllocationRequest& request, JobId id, PlacementDraft& draft) {
    Reservation& reservation = reservations_[index(request.lead())];
    const bool elsewhere =
        std::any_of(reservation.parts.begin(), reservation.parts.end(),
                    [this](const NodeGpus& part) { return !nodes_[index(part.node)].allowed; });
    if (elsewhere || reservation.wanted != request.gpus) drop(reservation);
    reservation.job = id;
    reservation.wanted = request.gpus;
    int missing = request.gpus - reservation.gpus();
    if (request.gpus > largest_) {
      missing = reserve_nodes(reservation, missing);
      const int rest = missing % largest_;
      if (rest > 0) {
        missing -= rest - reserve_on_one(reservation, request.gpus % largest_, rest);
      }
    } else {
      missing = reserve_on_one(reservation, request.gpus, missing);
    }
    if (missing > 0) return false;
    GpuSet gpus;
    for (const NodeGpus& part : reservation.parts) {
      gpus.add(part.node, part.mask);
      nodes_[index(part.node)].reserved &= ~part.mask;
      nodes_[index(part.node)].held |= part.mask;
      add_use(part.node, part.mask, kStarted);
      for (std::size_t i = 0; i < gpus_[index(part.node)].size(); ++i) {
        if ((part.mask >> i & 1U) != 0) gpus_[index(part.node)][i].holder = id;
      }
    }
    reservation.parts.clear();
    draft.start(request, std::move(gpus),
                draft.blocked() != nullptr ? Reason::kBackfilled : Reason::kFirstInOrder);
    return true;
  }

  // Whole nodes for as much of `missing` as there are; returns what is still missing.
  int reserve_nodes(Reservation& reservation, int missing) {
    for (std::size_t i = 0; i < nodes_.size() && missing >= largest_; ++i) {
      if (std::popcount(nodes_[i].open()) < largest_) continue;
      reserve(reservation, i, nodes_[i].open());
      missing -= largest_;
    }
    return missing;
  }

  // `part` GPUs on one node, of which `missing` are not reserved yet; returns how many still are
  // not. Once some of a node is reserved, only that one will do.
  int reserve_on_one(Reservation& reservation, int part, int missing) {
    const auto begun = std::find_if(reservation.parts.begin(), reservation.parts.end(),
                                    [this](const NodeGpus& p) { return p.count() < largest_; });
    if (missing < part && begun != reservation.parts.end()) {
      return take_from(reservation, index(begun->node), missing);
    }
    std::size_t emptiest = nodes_.size();
    int most = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const int open = std::popcount(nodes_[i].open());
      if (open >= missing) return take_from(reservation, i, missing);
      if (open <= most) continue;
      most = open;
      emptiest = i;
    }
    return most == 0 ? missing : take_from(reservation, emptiest, missing);
  }

  int take_from(Reservation& reservation, std::size_t node, int missing) {
    const int taken = std::min(missing, std::popcount(nodes_[node].open()));
    if (taken > 0) reserve(reservation, node, lowest_bits(nodes_[node].open(), taken));
    return missing - taken;
  }

  bool start_opportunistic(const AllocationRequest& request, JobId id, PlacementDraft& draft) {
    node_hints_.clear();
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      for (std::size_t i = 0; i < gpus_[n].size(); ++i) {
        const bool usable = nodes_[n].allowed && (nodes_[n].usable >> i & 1U) != 0;
        if (usable && gpus_[n][i].use < kLimit) node_hints_.push_back({gpus_[n][i].use, n, i});
      }
    }
    if (node_hints_.size() < static_cast<std::size_t>(request.gpus)) return false;
    std::stable_sort(node_hints_.begin(), node_hints_.end(),
                     [](const NodeHint& a, const NodeHint& b) { return a.use < b.use; });
    node_hints_.resize(static_cast<std::size_t>(request.gpus));
    std::vector<std::uint64_t> taken(nodes_.size(), 0);
    for (const NodeHint& hint_node : node_hints_) {
      taken[hint_node.node] |= std::uint64_t{1} << hint_node.gpu;
      gpus_[hint_node.node][hint_node.gpu].use += kOpportunistic;
      gpus_[hint_node.node][hint_node.gpu].opportunistic = id;
    }
    GpuSet gpus;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (taken[i] != 0) gpus.add(NodeId{static_cast<std::uint32_t>(i)}, taken[i]);
    }
    draft.start_opportunistic(
        request.lead(), std::move(gpus),
        draft.blocked() != nullptr ? Reason::kBackfilled : Reason::kFirstInOrder);
    return true;
  }

  struct NodeHint {
    double use;
    std::size_t node;
    std::size_t gpu;
  };

  std::vector<Node> nodes_;
  std::vector<std::vector<Gpu>> gpus_;     // by node
  std::vector<Reservation> reservations_;  // by slot
  std::vector<JobId> running_;             // ascending
  std::vector<NodeHint> node_hints_;
  int largest_ = 1;  // GPUs of the largest node that is allowed
};

}  // namespace

PolicyInfo<PlacementPolicy> antman_placement_row() {
  return {"antman",
          "guaranteed jobs reserve GPUs as they become free; opportunistic jobs use what others "
          "leave idle",
          "AntMan, 2020",
          {},
          [](const Params&) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<AntManPlacement>();
          }};
}

}  // namespace muster
