#include "policy/antman/placement.h"

#include <algorithm>

#include "policy/placement/search.h"
#include "policy/table.h"

namespace muster {
namespace {

constexpr Need kSharingNeeds[] = {{Knowledge::kPriority, "no GPU is shared"}};

}  // namespace

void AntManPlacement::place(const View& view, const SchedulingTraits& traits, const Plan& plan,
                            PlacementDraft& draft) {
  if (traits.preemptive) stop_the_rest(view, plan, draft);
  look(view, draft);
  keep_order(view, plan, draft);
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

PlacementTraits AntManPlacement::traits() const {
  // What one turn stops and reserves the next one may use, without an event in between.
  return {.needs = kSharingNeeds, .stable_between_events = false, .co_locates = true};
}

double AntManPlacement::rank(std::size_t node, std::size_t gpu) const {
  if (gpus_[node][gpu].holder != kNoJob) return 2;
  return (nodes_[node].reserved >> gpu & 1U) != 0 ? 1 : 0;
}

bool AntManPlacement::ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const {
  if (!PlacementPolicy::ever_fits(cluster, job, gpus)) return false;
  if (job.priority < 0) return true;
  const auto pools = cluster.pools_for(job.partition, job.gpu_type);
  int largest = 0;
  for (const PoolId pool : pools) largest = std::max(largest, cluster.pool(pool).largest);
  if (largest == 0) return false;
  // Whole nodes of the largest size, and one more for the rest.
  const int whole = gpus / largest;
  const int rest = gpus % largest;
  const HostResources host = cluster.host_wanted(job);
  int largest_nodes = 0;
  bool rest_fits = rest == 0;
  for (const PoolId pool : pools) {
    for (const NodeId id : cluster.pool(pool).nodes) {
      if (!has_room(cluster, id, host, gpus, largest)) continue;
      const int size = cluster.node(id).gpus;
      if (size == largest) ++largest_nodes;
      rest_fits = rest_fits || (size < largest && size >= rest);
    }
  }
  return largest_nodes > whole || (largest_nodes == whole && rest_fits);
}

bool AntManPlacement::has_room(const ClusterState& cluster, NodeId id, const HostResources& host,
                               int gpus, int largest) {
  if (!host.any()) return true;
  const bool small = cluster.node(id).gpus < largest;
  const int part = gpus <= largest ? gpus : small ? gpus % largest : largest;
  return cluster.host_room_ever(id, host) >= part;
}

void AntManPlacement::stop_the_rest(const View& view, const Plan& plan, PlacementDraft& draft) {
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

void AntManPlacement::look(const View& view, const PlacementDraft& draft) {
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
  forget_gone();
  for (const Slot slot : view.jobs.running()) {
    if (draft.holds(slot)) note(view.jobs[slot]);
  }
  reservations_.resize(view.jobs.slots());
  for (std::size_t i = 0; i < reservations_.size(); ++i) {
    Reservation& reservation = reservations_[i];
    if (reservation.parts.empty()) continue;
    const Job& job = view.jobs[Slot{static_cast<std::uint32_t>(i)}];
    // What is left of one that lost GPUs may be on a node that will never have enough again.
    const bool lost = std::any_of(reservation.parts.begin(), reservation.parts.end(),
                                  [this](const NodeGpus& part) {
                                    return (part.mask & ~nodes_[index(part.node)].open()) != 0;
                                  });
    if (lost || job.spec.id != reservation.job || !job.waiting()) drop(reservation);
    for (const NodeGpus& part : reservation.parts) {
      nodes_[index(part.node)].reserved |= part.mask;
    }
  }
}

// Reservations are as old as their requests' places in the order. One that was made while an
// earlier request was not there (it ran and came back, or it changed its place) is made anew,
// behind that one's: two that hold parts of one node would wait for each other for ever.
void AntManPlacement::keep_order(const View& view, const Plan& plan, const PlacementDraft& draft) {
  std::vector<char> listed(reservations_.size(), 0);
  std::uint64_t latest = 0;
  for (const AllocationRequest& request : plan.requests()) {
    const JobSpec& job = view.jobs[request.lead()].spec;
    if (job.priority < 0 || draft.holds(request.lead())) continue;
    Reservation& own = reservations_[index(request.lead())];
    const bool same = own.job == job.id && own.wanted == request.gpus && own.number > latest;
    if (!same) {
      drop(own);
      own.job = job.id;
      own.wanted = request.gpus;
      own.number = ++numbers_;
    }
    latest = own.number;
    listed[index(request.lead())] = 1;
  }
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (listed[i] == 0) drop(reservations_[i]);
  }
}

void AntManPlacement::forget_gone() {
  for (std::size_t n = 0; n < gpus_.size(); ++n) {
    for (std::size_t i = 0; i < gpus_[n].size(); ++i) {
      Gpu& gpu = gpus_[n][i];
      if (gone(gpu.holder)) {
        gpu.holder = kNoJob;
        on_change(n, i, Change::kEnded);
      }
      if (gone(gpu.opportunistic)) {
        gpu.opportunistic = kNoJob;
        on_change(n, i, Change::kLeft);
      }
    }
  }
}

// One that was there before us is not known yet.
void AntManPlacement::note(const Job& job) {
  for (int part = 0; part < job.gpus.nodes(); ++part) {
    const auto node = index(job.gpus[part].node);
    for (std::size_t i = 0; i < gpus_[node].size(); ++i) {
      if ((job.gpus[part].mask >> i & 1U) == 0) continue;
      JobId& known = job.opportunistic ? gpus_[node][i].opportunistic : gpus_[node][i].holder;
      if (known == job.spec.id) continue;
      known = job.spec.id;
      if (!job.opportunistic) on_change(node, i, Change::kReserved);
      on_change(node, i, job.opportunistic ? Change::kJoined : Change::kStarted);
    }
  }
}

void AntManPlacement::drop(Reservation& reservation) {
  release(reservation);
  reservation.number = 0;
}

void AntManPlacement::release(Reservation& reservation) {
  for (const NodeGpus& part : reservation.parts) {
    change(part.node, part.mask, Change::kReleased);
    nodes_[index(part.node)].reserved &= ~part.mask;
  }
  reservation.parts.clear();
}

void AntManPlacement::allow(const View& view, const PlacementDraft& draft,
                            const AllocationRequest& request) {
  const ClusterState& cluster = draft.cluster();
  const bool over = cluster.quota_left(view.jobs[request.lead()].spec.partition) < request.gpus;
  const auto pools = pools_of(view, cluster, request);
  largest_ = 1;
  largest_nodes_ = 0;
  for (const PoolId pool : pools) largest_ = std::max(largest_, cluster.pool(pool).largest);
  const JobSpec& spec = view.jobs[request.lead()].spec;
  // Opportunistic jobs count no cores; nor are GPUs reserved beside which there will be too few.
  const HostResources host = spec.priority < 0 ? HostResources{} : cluster.host_wanted(spec);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const NodeId id{static_cast<std::uint32_t>(i)};
    const PoolId pool = cluster.pool_of(id);
    nodes_[i].allowed = !over && std::find(pools.begin(), pools.end(), pool) != pools.end();
    if (!has_room(cluster, id, host, request.gpus, largest_)) nodes_[i].allowed = false;
    if (nodes_[i].allowed && cluster.node(id).gpus == largest_) ++largest_nodes_;
  }
}

bool AntManPlacement::gone(JobId job) const {
  return job != kNoJob && !std::binary_search(running_.begin(), running_.end(), job);
}

void AntManPlacement::change(NodeId node, std::uint64_t mask, Change change) {
  for (std::size_t i = 0; i < gpus_[index(node)].size(); ++i) {
    if ((mask >> i & 1U) != 0) on_change(index(node), i, change);
  }
}

void AntManPlacement::reserve(Reservation& reservation, std::size_t node, std::uint64_t mask) {
  nodes_[node].reserved |= mask;
  const NodeId id{static_cast<std::uint32_t>(node)};
  change(id, mask, Change::kReserved);
  for (NodeGpus& part : reservation.parts) {
    if (part.node != id) continue;
    part.mask |= mask;
    return;
  }
  reservation.parts.push_back({id, mask});
}

bool AntManPlacement::guarantee(const AllocationRequest& request, JobId id, PlacementDraft& draft) {
  Reservation& reservation = reservations_[index(request.lead())];
  const bool elsewhere =
      std::any_of(reservation.parts.begin(), reservation.parts.end(),
                  [this](const NodeGpus& part) { return !nodes_[index(part.node)].allowed; });
  if (elsewhere) drop(reservation);
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
  for (const NodeGpus& part : reservation.parts) gpus.add(part.node, part.mask);
  const HostResources host = draft.cluster().host_wanted(draft.jobs()[request.lead()].spec);
  if (!draft.cluster().host_fits(gpus, host)) return false;
  for (const NodeGpus& part : reservation.parts) {
    nodes_[index(part.node)].reserved &= ~part.mask;
    nodes_[index(part.node)].held |= part.mask;
    change(part.node, part.mask, Change::kStarted);
    for (std::size_t i = 0; i < gpus_[index(part.node)].size(); ++i) {
      if ((part.mask >> i & 1U) != 0) gpus_[index(part.node)][i].holder = id;
    }
  }
  reservation.parts.clear();
  reservation.number = 0;
  draft.start(request, std::move(gpus),
              draft.blocked() != nullptr ? Reason::kBackfilled : Reason::kFirstInOrder);
  return true;
}

int AntManPlacement::reserve_nodes(Reservation& reservation, int missing) {
  for (std::size_t i = 0; i < nodes_.size() && missing >= largest_; ++i) {
    if (!open_up(i, reservation)) continue;
    reserve(reservation, i, nodes_[i].open());
    missing -= largest_;
  }
  return missing;
}

// Whether the whole node can be had. Requests that come later in the order may have reserved some
// of it while it was not free, as the rest of what they want beside whole nodes: they give that
// back, or each would hold a part of what another one needs, for ever.
bool AntManPlacement::open_up(std::size_t node, const Reservation& reservation) {
  const Node& one = nodes_[node];
  if (std::popcount(one.open()) >= largest_) return true;
  if (!opens_nodes() || !one.allowed || std::popcount(one.usable & ~one.held) < largest_)
    return false;
  const NodeId id{static_cast<std::uint32_t>(node)};
  const auto part_of = [id](const Reservation& other) -> std::uint64_t {
    for (const NodeGpus& part : other.parts) {
      if (part.node == id) return part.mask;
    }
    return 0;
  };
  std::uint64_t later = 0;
  for (const Reservation& other : reservations_) {
    if (other.number > reservation.number) later |= part_of(other);
  }
  if (std::popcount(one.open() | later) < largest_) return false;
  for (Reservation& other : reservations_) {
    if (other.number > reservation.number && part_of(other) != 0) release(other);
  }
  return true;
}

int AntManPlacement::reserve_on_one(Reservation& reservation, int part, int missing) {
  const auto begun = std::find_if(reservation.parts.begin(), reservation.parts.end(),
                                  [this](const NodeGpus& p) { return p.count() < largest_; });
  if (missing < part && begun != reservation.parts.end()) {
    return take_from(reservation, index(begun->node), missing);
  }
  std::size_t emptiest = nodes_.size();
  int most = 0;
  // What is more than whole nodes of the largest size leaves these their nodes.
  const int whole = (reservation.wanted - part) / largest_;
  const int most_gpus = largest_nodes_ > whole ? largest_ : largest_ - 1;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto size = static_cast<int>(gpus_[i].size());
    if (size < part || size > most_gpus) continue;
    const int open = std::popcount(nodes_[i].open());
    if (open >= missing) return take_from(reservation, i, missing);
    if (open <= most) continue;
    most = open;
    emptiest = i;
  }
  return most == 0 ? missing : take_from(reservation, emptiest, missing);
}

int AntManPlacement::take_from(Reservation& reservation, std::size_t node, int missing) {
  const int taken = std::min(missing, std::popcount(nodes_[node].open()));
  if (taken > 0) reserve(reservation, node, lowest_bits(nodes_[node].open(), taken));
  return missing - taken;
}

bool AntManPlacement::start_opportunistic(const AllocationRequest& request, JobId id,
                                          PlacementDraft& draft) {
  candidates_.clear();
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    for (std::size_t i = 0; i < gpus_[n].size(); ++i) {
      const bool usable = nodes_[n].allowed && (nodes_[n].usable >> i & 1U) != 0;
      if (usable && gpus_[n][i].opportunistic == kNoJob) candidates_.push_back({rank(n, i), n, i});
    }
  }
  if (candidates_.size() < static_cast<std::size_t>(request.gpus)) return false;
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.rank < b.rank; });
  candidates_.resize(static_cast<std::size_t>(request.gpus));
  std::vector<std::uint64_t> taken(nodes_.size(), 0);
  for (const Candidate& one : candidates_) {
    taken[one.node] |= std::uint64_t{1} << one.gpu;
    gpus_[one.node][one.gpu].opportunistic = id;
    on_change(one.node, one.gpu, Change::kJoined);
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
