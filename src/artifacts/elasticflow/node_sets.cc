#include "artifacts/elasticflow/node_sets.h"

#include <algorithm>

namespace muster {

int NodeSets::list_for(int gpus) const {
  const auto found = std::lower_bound(kGroups.begin(), kGroups.end(), gpus);
  return found == kGroups.end() ? static_cast<int>(kGroups.size()) - 1
                                : static_cast<int>(found - kGroups.begin());
}

int NodeSets::home(int left, int filled_by) const {
  if (left == 0) return filled_by;
  for (int list = static_cast<int>(kGroups.size()) - 1; list >= 0; --list) {
    const int size = kGroups[static_cast<std::size_t>(list)];
    if (size <= left && left % size == 0) return list;
  }
  return 0;
}

void NodeSets::put(int set, int list) {
  List& sets = lists_[static_cast<std::size_t>(list)];
  sets.push_back(set);
  std::stable_sort(sets.begin(), sets.end(), [this](int a, int b) {
    return sets_[static_cast<std::size_t>(a)].used < sets_[static_cast<std::size_t>(b)].used;
  });
}

bool NodeSets::take_from(int list, int job, int gpus, int own) {
  List& sets = lists_[static_cast<std::size_t>(list)];
  if (sets.empty()) return false;
  const int first = sets.front();
  sets.erase(sets.begin());
  Set& set = sets_[static_cast<std::size_t>(first)];
  const int capacity = set.nodes * gpus_per_node_;
  if (set.used + gpus > capacity) {
    sets.push_back(first);
    return false;
  }
  set.used += gpus;
  set.jobs.push_back({job, gpus, false});
  put(first, home(capacity - set.used, own));
  return true;
}

bool NodeSets::place(int job, int gpus) {
  const int own = list_for(gpus);
  if (take_from(own, job, gpus, own)) return true;
  for (int list = static_cast<int>(kGroups.size()) - 1; list > own; --list) {
    if (take_from(list, job, gpus, own)) return true;
  }
  const int nodes = (gpus + gpus_per_node_ - 1) / gpus_per_node_;
  if (nodes > free_) return false;
  Set set;
  set.first_node = next_node_;
  set.nodes = nodes;
  set.used = gpus;
  set.jobs.push_back({job, gpus, false});
  next_node_ += nodes;
  free_ -= nodes;
  sets_.push_back(std::move(set));
  put(static_cast<int>(sets_.size()) - 1, home(nodes * gpus_per_node_ - gpus, own));
  return true;
}

void NodeSets::rank(std::set<std::pair<int, int>>& cache, std::vector<Tenant>& tenants) const {
  // Sets were given nodes in order, so that going through them is going through the nodes.
  std::vector<int> list_of(sets_.size(), 0);
  for (std::size_t list = 0; list < lists_.size(); ++list) {
    for (const int set : lists_[list])
      list_of[static_cast<std::size_t>(set)] = static_cast<int>(list);
  }
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    const Set& set = sets_[i];
    const bool whole = kGroups[static_cast<std::size_t>(list_of[i])] >= gpus_per_node_;
    int rank = set.first_node * gpus_per_node_;
    for (Tenant tenant : set.jobs) {
      tenant.known = !cache.insert({rank, tenant.gpus}).second;
      tenants.push_back(tenant);
      rank += tenant.gpus;
      if (whole) break;
    }
  }
}

}  // namespace muster
