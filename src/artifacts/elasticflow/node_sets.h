// The buddy-like packing of the published ElasticFlow, which groups nodes into sets by how many
// GPUs they have left. Only the ranks of the GPUs a job gets matter here: a job that comes to a
// range of GPUs that was in use before, by whomever, is spared the setting up of communicators.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace muster {

class NodeSets {
 public:
  // GPUs of a job and, once ranked, whether their range was seen before.
  struct Tenant {
    int job = 0;
    int gpus = 0;
    bool known = false;
  };

  NodeSets(int nodes, int gpus_per_node) : gpus_per_node_(gpus_per_node), free_(nodes) {}

  // Places a job after those placed before it; false where no set and not enough nodes are left.
  bool place(int job, int gpus);
  // Goes through the cluster in order and looks every job's range up in the cache, adding it.
  void rank(std::set<std::pair<int, int>>& cache, std::vector<Tenant>& tenants) const;

 private:
  struct Set {
    int first_node = 0;
    int nodes = 0;
    int used = 0;
    std::vector<Tenant> jobs;
  };
  using List = std::vector<int>;  // sets, least used first

  static constexpr std::array<int, 16> kGroups = {1,  2,  4,  8,  12, 16, 24,  32,
                                                  40, 48, 56, 64, 72, 88, 128, 256};
  int list_for(int gpus) const;
  // Where a set belongs that has so many GPUs left, or was filled by a job of that size.
  int home(int left, int filled_by) const;
  void put(int set, int list);
  bool take_from(int list, int job, int gpus, int own);

  int gpus_per_node_;
  int free_;
  int next_node_ = 0;
  std::vector<Set> sets_;
  std::array<List, kGroups.size()> lists_;
};

}  // namespace muster
