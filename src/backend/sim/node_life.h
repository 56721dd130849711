// When nodes and GPUs fail, return, join and leave: a schedule written by a person, and failures
// drawn from a seed. Each node has a random stream of its own, so what happens to one never depends
// on another. Nothing fails on a node that the schedule has taken away, and a node that joins is
// up.
#pragma once

#include <vector>

#include "base/archive.h"
#include "base/random.h"
#include "engine/job_event.h"
#include "model/cluster_spec.h"

namespace muster {

struct FailureOptions {
  Seconds node_mtbf = kNever;  // mean time between failures of one node
  Seconds node_repair = 3600;  // mean time to repair it
  Seconds gpu_mtbf = kNever;   // of one GPU
  Seconds gpu_repair = 3600;
  std::uint64_t seed = 1;

  bool any() const { return node_mtbf != kNever || gpu_mtbf != kNever; }
};

class NodeLife {
 public:
  NodeLife(const ClusterSpec& cluster, const FailureOptions& options);

  Seconds next() const { return heap_.empty() ? kNever : heap_.front().time; }
  // Removes and returns the next event; call only when there is one.
  JobEvent pop();
  // Forgets future failures, which are unknown in reality; the schedule and the repairs of what is
  // broken now stay.
  void forget_failures();
  void checkpoint(Archive& archive);

 private:
  enum class Source : std::uint8_t { kSchedule, kNode, kGpu };
  struct Entry {
    Seconds time;
    std::uint32_t order;  // ties: the schedule first, then by node
    Source source;
    NodeId node;
    int gpu;
    bool up;
    friend bool operator>(const Entry& a, const Entry& b) {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };
  struct NodeStream {
    Random node;
    Random gpu;
  };

  struct NodeState {
    bool present = true;     // by the schedule
    bool gpu_drawn = false;  // the next change of one of its GPUs is known
  };

  void push(const Entry& entry);
  template <typename Condition>
  void erase_if(Condition condition);
  void on_schedule(const Entry& entry);
  void draw_node(std::size_t node, Seconds from, bool up);
  void draw_gpu(std::size_t node, Seconds from, int broken);

  FailureOptions options_;
  std::vector<int> gpus_;
  std::vector<NodeState> states_;
  std::vector<NodeStream> streams_;
  std::vector<Entry> heap_;
};

}  // namespace muster
