#include "backend/sim/node_life.h"

#include <algorithm>
#include <functional>
#include <string>

namespace muster {

NodeLife::NodeLife(const ClusterSpec& cluster, const FailureOptions& options) : options_(options) {
  std::uint32_t order = 0;
  for (const NodeChange& change : cluster.schedule) {
    push({change.time, order++, Source::kSchedule, change.node, -1, change.joins});
  }
  if (!options_.any()) return;
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    gpus_.push_back(cluster.nodes[i].gpus);
    const std::string name = std::to_string(i);
    streams_.push_back({Random(options_.seed, "node failures " + name),
                        Random(options_.seed, "gpu failures " + name)});
    draw_node(i, 0, false);
    draw_gpu(i, 0, -1);
  }
}

void NodeLife::push(const Entry& entry) {
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

// The node's next change: down if `up` is false, back up otherwise.
void NodeLife::draw_node(std::size_t node, Seconds from, bool up) {
  if (options_.node_mtbf == kNever) return;
  const Seconds mean = up ? options_.node_repair : options_.node_mtbf;
  const auto id = static_cast<std::uint32_t>(node);
  push({from + streams_[node].node.exponential(mean), 0x40000000U + id, Source::kNode, NodeId{id},
        -1, up});
}

// One GPU of a node is broken at a time: `broken`, or none if negative.
void NodeLife::draw_gpu(std::size_t node, Seconds from, int broken) {
  if (options_.gpu_mtbf == kNever) return;
  Random& random = streams_[node].gpu;
  const auto id = static_cast<std::uint32_t>(node);
  const bool up = broken >= 0;
  const Seconds mean = up ? options_.gpu_repair : options_.gpu_mtbf / gpus_[node];
  const Seconds time = from + random.exponential(mean);
  const int gpu =
      up ? broken : static_cast<int>(random.below(static_cast<std::uint64_t>(gpus_[node])));
  push({time, 0x80000000U + id, Source::kGpu, NodeId{id}, gpu, up});
}

JobEvent NodeLife::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
  const Entry entry = heap_.back();
  heap_.pop_back();
  JobEvent event;
  event.time = entry.time;
  event.node = entry.node;
  event.gpu = entry.gpu;
  const std::size_t node = index(entry.node);
  switch (entry.source) {
    case Source::kSchedule:
      event.kind = entry.up ? EventKind::kNodeUp : EventKind::kNodeDown;
      break;
    case Source::kNode:
      event.kind = entry.up ? EventKind::kNodeUp : EventKind::kNodeDown;
      draw_node(node, entry.time, !entry.up);
      break;
    case Source::kGpu:
      event.kind = entry.up ? EventKind::kGpuUp : EventKind::kGpuDown;
      draw_gpu(node, entry.time, entry.up ? -1 : entry.gpu);
      break;
  }
  return event;
}

}  // namespace muster
