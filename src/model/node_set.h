// A set of nodes that answers "the lowest member" and "the next one" in a few instructions, for
// tens of thousands of nodes: a bitset with one summary level above it. Order is by node id, hence
// deterministic.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "model/ids.h"

namespace muster {

class NodeSet {
 public:
  explicit NodeSet(std::size_t capacity = 0)
      : words_((capacity + 63) / 64, 0), summary_((words_.size() + 63) / 64, 0) {}

  void insert(NodeId node) {
    const std::size_t i = index(node);
    words_[i / 64] |= bit(i);
    summary_[i / 4096] |= bit(i / 64);
  }
  void erase(NodeId node) {
    const std::size_t i = index(node);
    words_[i / 64] &= ~bit(i);
    if (words_[i / 64] == 0) summary_[i / 4096] &= ~bit(i / 64);
  }
  bool contains(NodeId node) const { return (words_[index(node) / 64] & bit(index(node))) != 0; }
  NodeId first() const { return from(0); }
  NodeId after(NodeId node) const { return from(index(node) + 1); }

 private:
  static constexpr std::uint64_t bit(std::size_t i) { return std::uint64_t{1} << (i % 64); }
  // All bits from position i % 64 upwards.
  static constexpr std::uint64_t upward(std::size_t i) { return ~std::uint64_t{0} << (i % 64); }

  NodeId from(std::size_t i) const {
    if (i / 64 >= words_.size()) return kNoNode;
    if (const std::uint64_t here = words_[i / 64] & upward(i)) return at(i / 64, here);
    const std::size_t next_word = i / 64 + 1;
    for (std::size_t s = next_word / 64; s < summary_.size(); ++s) {
      const std::uint64_t some =
          s == next_word / 64 ? summary_[s] & upward(next_word) : summary_[s];
      if (some == 0) continue;
      const std::size_t word = s * 64 + static_cast<std::size_t>(std::countr_zero(some));
      return at(word, words_[word]);
    }
    return kNoNode;
  }
  static NodeId at(std::size_t word, std::uint64_t bits) {
    return NodeId{
        static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)))};
  }

  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> summary_;  // bit w: words_[w] is not zero
};

}  // namespace muster
