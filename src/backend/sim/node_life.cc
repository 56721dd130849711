#include "backend/sim/node_life.h"

#include <algorithm>
#include <functional>
#include <string>

namespace muster {

NodeLife::NodeLife(const ClusterSpec& cluster, const FailureOptions& options)
    : options_(options), states_(cluster.nodes.size()) {
  std::vector<bool> seen(cluster.nodes.size(), false);
  std::uint32_t order = 0;
  for (const NodeChange& change : cluster.schedule) {
    push({change.time, order++, Source::kSchedule, change.node, -1, change.joins});
    // As in the cluster's state: a node whose first change is to join is absent until then.
    if (!seen[index(change.node)]) states_[index(change.node)].present = !change.joins;
    seen[index(change.node)] = true;
  }
  if (!options_.any()) return;
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    gpus_.push_back(cluster.nodes[i].gpus);
    const std::string name = std::to_string(i);
    streams_.push_back({Random(options_.seed, "node failures " + name),
                        Random(options_.seed, "gpu failures " + name)});
    if (!states_[i].present) continue;
    draw_node(i, 0, false);
    draw_gpu(i, 0, -1);
  }
}

void NodeLife::push(const Entry& entry) {
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

template <typename Condition>
void NodeLife::erase_if(Condition condition) {
  std::erase_if(heap_, condition);
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
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
  if (options_.gpu_mtbf == kNever || gpus_[node] == 0) return;
  Random& random = streams_[node].gpu;
  const auto id = static_cast<std::uint32_t>(node);
  const bool up = broken >= 0;
  const Seconds mean = up ? options_.gpu_repair : options_.gpu_mtbf / gpus_[node];
  const Seconds time = from + random.exponential(mean);
  const int gpu =
      up ? broken : static_cast<int>(random.below(static_cast<std::uint64_t>(gpus_[node])));
  push({time, 0x80000000U + id, Source::kGpu, NodeId{id}, gpu, up});
  states_[node].gpu_drawn = true;
}

void NodeLife::on_schedule(const Entry& entry) {
  const std::size_t node = index(entry.node);
  NodeState& state = states_[node];
  if (state.present == entry.up) return;
  state.present = entry.up;
  if (!options_.any()) return;
  if (entry.up) {
    draw_node(node, entry.time, false);
    if (!state.gpu_drawn) draw_gpu(node, entry.time, -1);
    return;
  }
  // What was drawn for it is void, except for the repair of a GPU.
  state.gpu_drawn = false;
  erase_if([&](const Entry& drawn) {
    if (drawn.node != entry.node || drawn.source == Source::kSchedule) return false;
    const bool repair = drawn.source == Source::kGpu && drawn.up;
    state.gpu_drawn = state.gpu_drawn || repair;
    return !repair;
  });
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
      on_schedule(entry);
      break;
    case Source::kNode:
      event.kind = entry.up ? EventKind::kNodeUp : EventKind::kNodeDown;
      draw_node(node, entry.time, !entry.up);
      break;
    case Source::kGpu:
      event.kind = entry.up ? EventKind::kGpuUp : EventKind::kGpuDown;
      states_[node].gpu_drawn = false;
      // What is broken is repaired wherever the node is; a new one breaks only where it is used.
      if (!entry.up) {
        draw_gpu(node, entry.time, entry.gpu);
      } else if (states_[node].present) {
        draw_gpu(node, entry.time, -1);
      }
      break;
  }
  return event;
}

void NodeLife::checkpoint(Archive& archive) {
  archive.list(states_);
  archive.mark(streams_.size());
  for (NodeStream& stream : streams_) archive.value(stream);
  archive.list(heap_);
}

void NodeLife::forget_failures() {
  options_.node_mtbf = kNever;
  options_.gpu_mtbf = kNever;
  erase_if([](const Entry& entry) { return entry.source != Source::kSchedule && !entry.up; });
}

}  // namespace muster
