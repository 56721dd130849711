#include "policy/lucid/packing.h"

#include <algorithm>
#include <cmath>

#include "model/belief.h"
#include "policy/placement/search.h"
#include "policy/table.h"

namespace muster {
namespace {

// The last one only where sharing depends on the load.
constexpr Need kPackingNeeds[] = {
    {Knowledge::kProfile, "such a job shares its GPUs with no other"},
    {Knowledge::kEstimate, "such a job is assumed to end before all others"},
    {Knowledge::kForecast, "jobs may always share"}};

}  // namespace

PackingPlacement::PackingPlacement(const Params& params)
    : score_limit_(static_cast<int>(params.integer("score_limit"))),
      largest_(static_cast<int>(params.integer("largest"))),
      memory_mb_(params.real("memory_mb")),
      outlast_(params.real("outlast")),
      quiet_(params.real("quiet")),
      slots_(static_cast<int>(params.integer("slots"))),
      check_every_(params.real("check_every")),
      share_(params.text("share")),
      share_first_(params.flag("share_first")) {}

void PackingPlacement::place(const View& view, const SchedulingTraits&, const Plan& plan,
                             PlacementDraft& draft) {
  const bool may_share = sharing(view);
  collect_holders(view);
  full_.clear();
  closed_.clear();
  for (const AllocationRequest& request : plan.requests()) {
    // No job is moved: a group waits for those of it that run.
    if (std::any_of(request.jobs.begin(), request.jobs.begin() + request.size,
                    [&](Slot job) { return draft.holds(job); })) {
      continue;
    }
    const Symbol partition = view.jobs[request.lead()].spec.partition;
    if (std::find(closed_.begin(), closed_.end(), partition) != closed_.end()) continue;
    const bool may_join = may_share && request.size == 1 && request.gpus <= largest_;
    if (may_join && share_first_ && join(view, request, draft)) continue;
    if (start(view, request, draft)) continue;
    if (may_join && !share_first_ && join(view, request, draft)) continue;
    draft.block(request, why_not_placed(view, draft.cluster(), request));
    if (!may_share && std::find(closed_.begin(), closed_.end(), partition) == closed_.end()) {
      closed_.push_back(partition);
    }
  }
}

PlacementTraits PackingPlacement::traits() const {
  if (share_ == "never") return {};
  return {.needs = share_ == "by-load" ? Needs(kPackingNeeds) : Needs(kPackingNeeds).first(2),
          .co_locates = true};
}

Seconds PackingPlacement::wake(const View& view) const {
  if (share_ != "by-load" || view.forecast == nullptr || view.jobs.waiting().empty()) {
    return kNever;
  }
  const bool now = sharing_at(view, view.now);
  Seconds check = last_check(view.now);
  // Checks with the same slots ahead of them find the same.
  std::size_t looked_at = view.forecast->first_after(view.now);
  while (check <= view.forecast->end()) {
    check += check_every_;
    const std::size_t first = view.forecast->first_after(check);
    if (first == looked_at) continue;
    if (sharing_at(view, check) != now) return check;
    looked_at = first;
  }
  return kNever;
}
Seconds PackingPlacement::last_check(Seconds now) const {
  return std::floor(now / check_every_) * check_every_;
}

bool PackingPlacement::sharing_at(const View& view, Seconds check) const {
  const std::span<const Forecast::Slot> next = view.forecast->next(check, slots_);
  if (next.empty()) return true;
  double jobs = 0;
  for (const Forecast::Slot& slot : next) jobs += slot.jobs;
  return jobs / static_cast<double>(next.size()) > quiet_;
}

bool PackingPlacement::sharing(const View& view) const {
  if (share_ != "by-load" || view.forecast == nullptr) return share_ != "never";
  return sharing_at(view, last_check(view.now));
}

void PackingPlacement::collect_holders(const View& view) {
  holders_.clear();
  for (const Slot slot : view.jobs.active()) {
    const Job& job = view.jobs[slot];
    if (!job.running() || job.next_co_located != slot || !may_be_joined(job)) continue;
    holders_.push_back({job.gpus.gpus(), job.start_order, slot});
  }
  std::sort(holders_.begin(), holders_.end());
}

bool PackingPlacement::affine(const View& view, const JobSpec& newcomer,
                              const JobSpec& holder) const {
  const WorkloadProfile* mine = profile_of(view.perf, newcomer);
  const WorkloadProfile* theirs = profile_of(view.perf, holder);
  if (mine == nullptr || theirs == nullptr || newcomer.partition != holder.partition) return false;
  return theirs->memory_mb < memory_mb_ - mine->memory_mb &&
         mine->share_score + theirs->share_score <= score_limit_ &&
         estimate_of(newcomer) * newcomer.gpus <= outlast_ * (estimate_of(holder) * holder.gpus);
}

bool PackingPlacement::join(const View& view, const AllocationRequest& request,
                            PlacementDraft& draft) {
  const JobSpec& spec = view.jobs[request.lead()].spec;
  auto holder =
      std::lower_bound(holders_.begin(), holders_.end(), Holder{request.gpus, 0, request.lead()});
  for (; holder != holders_.end() && holder->gpus == request.gpus; ++holder) {
    if (!affine(view, spec, view.jobs[holder->slot].spec)) continue;
    draft.join(request.lead(), holder->slot, Reason::kGrouped);
    holders_.erase(holder);
    return true;
  }
  return false;
}

bool PackingPlacement::start(const View& view, const AllocationRequest& request,
                             PlacementDraft& draft) {
  const JobSpec& spec = view.jobs[request.lead()].spec;
  if (draft.cluster().free_for(spec.partition, type_of(view, request)) < request.gpus) return false;
  const auto pools = pools_of(view, draft.cluster(), request);
  const auto limit = draft.limit_to_host(request);
  // Free GPUs only become fewer in this walk: a request for as many as one that failed fails too.
  const auto key = std::make_pair(pools.data(), request.gpus);
  if (std::find(full_.begin(), full_.end(), key) != full_.end()) return false;
  GpuSet found;
  if (!find_whole_nodes(draft.cluster(), pools, request.gpus, found)) {
    // Others may ask for fewer cores.
    if (!draft.cluster().host_wanted(spec).any()) full_.push_back(key);
    return false;
  }
  const Reason reason = draft.blocked() != nullptr ? Reason::kBackfilled : Reason::kFirstInOrder;
  draft.start(request, std::move(found), reason);
  // It runs from now on: later ones may join it.
  if (request.size == 1) {
    const Holder holder{request.gpus,
                        0x80000000U + static_cast<std::uint32_t>(draft.steps().size()),
                        request.lead()};
    holders_.insert(std::upper_bound(holders_.begin(), holders_.end(), holder), holder);
  }
  return true;
}

PolicyInfo<PlacementPolicy> packing_row() {
  return {
      "packing",
      "as whole-nodes, and co-located with a running job where the two do not disturb each other",
      "Lucid, 2023",
      {{"share",
        ParamKind::kText,
        "by-load",
        "when jobs may share GPUs; by-load needs a forecast",
        -1,
        1,
        {"by-load", "always", "never"}},
       {"score_limit", ParamKind::kInteger, "2", "largest sum of the sharing scores of two jobs",
        0},
       {"largest", ParamKind::kInteger, "8", "GPUs of the largest job that may share", 1},
       {"memory_mb", ParamKind::kReal, "24576",
        "memory of a GPU in MB; two jobs must stay below it", 0},
       {"outlast", ParamKind::kReal, "2",
        "largest estimated GPU time of the joining job, as a multiple of the running job's", 0},
       {"share_first", ParamKind::kFlag, "true", "look for a job to join before free GPUs"},
       {"quiet", ParamKind::kReal, "2",
        "no sharing while the forecast has at most this many jobs per slot", 0},
       {"slots", ParamKind::kInteger, "5", "number of forecast slots to consider", 1},
       {"check_every", ParamKind::kReal, "100", "seconds between two checks of the forecast", 1}},
      [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
        return std::make_unique<PackingPlacement>(params);
      }};
}

}  // namespace muster
