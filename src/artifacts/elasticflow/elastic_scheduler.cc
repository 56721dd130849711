#include "artifacts/elasticflow/elastic_scheduler.h"

#include <algorithm>
#include <cmath>

#include "artifacts/elasticflow/node_sets.h"

namespace muster::published {

void ElasticScheduler::advance() {
  const Seconds span = std::trunc(now_ - last_);
  for (const Slot slot : runnable_) {
    Job& j = job(slot);
    if (j.gpus == 0) continue;
    const Seconds planned_end = judges_exact_ends_ ? j.exact_end : j.end;
    double ran = span;
    if (now_ > planned_end) ran -= now_ - planned_end;
    ran = ran < j.overhead ? 0 : ran - j.overhead;
    double work = ran * j.speed();
    if (j.wants.left <= work && j.end > now_) {
      const Seconds end = now_ - span + std::ceil(j.wants.left / j.speed());
      work = (j.end - now_ + span) * j.speed();
      j.old_end = j.end;
      j.end = now_;
      events_.move_end(j);
      j.end = end;
    }
    j.wants.left -= work;
    j.overhead = 0;
  }
}

void ElasticScheduler::sort_by_deadline(std::vector<Slot>& jobs) const {
  const auto before = [this](Slot a, Slot b) {
    return job(a).wants.deadline < job(b).wants.deadline;
  };
  // Often only the last ones are new.
  const auto sorted = std::is_sorted_until(jobs.begin(), jobs.end(), before);
  std::stable_sort(sorted, jobs.end(), before);
  std::inplace_merge(jobs.begin(), sorted, jobs.end(), before);
}

void ElasticScheduler::drop(Slot slot) {
  std::erase(running_, slot);
  std::erase(runnable_, slot);
}

void ElasticScheduler::wait(Slot slot) {
  pending_.push_back(slot);
  runnable_.push_back(slot);
}

void ElasticScheduler::start(Slot slot) {
  std::erase(pending_, slot);
  running_.push_back(slot);
  job(slot).started = true;
}

void ElasticScheduler::look_up_ranges(const std::vector<Slot>& order) {
  NodeSets sets(nodes_, node_gpus_);
  for (const Slot slot : order) sets.place(static_cast<int>(index(slot)), job(slot).gpus);
  std::vector<NodeSets::Tenant> tenants;
  sets.rank(ranges_, tenants);
  for (const NodeSets::Tenant& tenant : tenants) {
    job(Slot{static_cast<std::uint32_t>(tenant.job)}).known_range = tenant.known;
  }
}

void ElasticScheduler::charge(const std::vector<Slot>& jobs) {
  const bool restart = restart_due();
  if (restart) ranges_.clear();
  for (const Slot slot : jobs) {
    Job& j = job(slot);
    j.overhead = j.gpus > 0 ? overhead_of(j.gpus, restart, j.known_range, cluster_gpus_) : 0;
    if (j.gpus == 0) continue;
    j.old_end = j.end;
    j.end += j.overhead;
    events_.move_end(j);
  }
}

}  // namespace muster::published
