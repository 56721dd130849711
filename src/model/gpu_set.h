// Which GPUs: a bit mask per node. Most jobs sit on one node, so the first entry lives inside the
// object.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "model/ids.h"

namespace muster {

inline constexpr int kMaxGpusPerNode = 64;

struct NodeGpus {
  NodeId node{};
  std::uint64_t mask = 0;

  int count() const { return std::popcount(mask); }
  friend bool operator==(const NodeGpus&, const NodeGpus&) = default;
};

class GpuSet {
 public:
  void add(NodeId node, std::uint64_t mask) {
    if (nodes_ == 0) {
      first_ = {node, mask};
    } else {
      more_.push_back({node, mask});
    }
    ++nodes_;
    gpus_ += std::popcount(mask);
  }
  void clear() {
    more_.clear();
    nodes_ = 0;
    gpus_ = 0;
  }
  bool empty() const { return nodes_ == 0; }
  int gpus() const { return gpus_; }
  int nodes() const { return nodes_; }
  const NodeGpus& operator[](int i) const {
    return i == 0 ? first_ : more_[static_cast<std::size_t>(i) - 1];
  }
  // The same GPUs, in whatever order their nodes were found. A node appears once in a set.
  friend bool operator==(const GpuSet& a, const GpuSet& b) {
    if (a.nodes_ != b.nodes_ || a.gpus_ != b.gpus_) return false;
    for (int i = 0; i < a.nodes_; ++i) {
      if (!(a[i] == b[i]) && !b.contains(a[i])) return false;
    }
    return true;
  }

 private:
  bool contains(const NodeGpus& part) const {
    for (int i = 0; i < nodes_; ++i) {
      if ((*this)[i] == part) return true;
    }
    return false;
  }

  NodeGpus first_;
  std::vector<NodeGpus> more_;
  int nodes_ = 0;
  int gpus_ = 0;
};

// Whether a GPU is in both.
inline bool overlap(const GpuSet& a, const GpuSet& b) {
  for (int i = 0; i < a.nodes(); ++i) {
    for (int j = 0; j < b.nodes(); ++j) {
      if (a[i].node == b[j].node && (a[i].mask & b[j].mask) != 0) return true;
    }
  }
  return false;
}

// CPU cores and memory that go with each GPU of an allocation; zero if they are not counted.
struct HostResources {
  double cpus_per_gpu = 0;
  double memory_per_gpu = 0;

  bool any() const { return cpus_per_gpu > 0 || memory_per_gpu > 0; }
  friend bool operator==(const HostResources&, const HostResources&) = default;
};

// The lowest `count` set bits of `mask`.
inline std::uint64_t lowest_bits(std::uint64_t mask, int count) {
  std::uint64_t taken = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t bit = mask & (~mask + 1);
    taken |= bit;
    mask ^= bit;
  }
  return taken;
}

}  // namespace muster
