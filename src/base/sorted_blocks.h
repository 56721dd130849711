// A sorted set of values that is read far more often than it changes. Values are contiguous in
// blocks of a few hundred, so a walk reads memory in order and a change moves at most one block.
// Use it instead of std::set where all of it is read every turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace muster {

template <typename T>
class SortedBlocks {
 public:
  // A walk over all values, smallest first.
  class Walk {
   public:
    explicit Walk(const SortedBlocks& set) : set_(&set) { enter(); }
    bool done() const { return at_ == nullptr; }
    const T& operator*() const { return *at_; }
    const T* operator->() const { return at_; }
    void next() {
      if (++at_ != end_) return;
      ++block_;
      enter();
    }

   private:
    void enter() {
      const bool more = block_ < set_->blocks_.size();
      at_ = more ? set_->blocks_[block_].data() : nullptr;
      end_ = more ? at_ + set_->blocks_[block_].size() : nullptr;
    }
    const SortedBlocks* set_;
    std::size_t block_ = 0;
    const T* at_ = nullptr;
    const T* end_ = nullptr;
  };

  Walk walk() const { return Walk(*this); }

  // A value equal to one inside changes nothing.
  void insert(const T& value) {
    if (blocks_.empty()) {
      blocks_.emplace_back(1, value);
      return;
    }
    const std::size_t b = std::min(block_for(value), blocks_.size() - 1);
    std::vector<T>& block = blocks_[b];
    const auto at = std::lower_bound(block.begin(), block.end(), value);
    if (at != block.end() && !(value < *at)) return;
    block.insert(at, value);
    if (block.size() <= kLargest) return;
    const auto middle = block.begin() + static_cast<std::ptrdiff_t>(kLargest / 2);
    std::vector<T> upper(middle, block.end());
    block.erase(middle, block.end());
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(b) + 1, std::move(upper));
  }

  void erase(const T& value) {
    const std::size_t b = block_for(value);
    if (b == blocks_.size()) return;
    std::vector<T>& block = blocks_[b];
    const auto at = std::lower_bound(block.begin(), block.end(), value);
    if (at == block.end() || value < *at) return;
    block.erase(at);
    if (block.empty()) blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(b));
  }

 private:
  static constexpr std::size_t kLargest = 128;

  // The first block that does not end before the value.
  std::size_t block_for(const T& value) const {
    const auto at = std::lower_bound(
        blocks_.begin(), blocks_.end(), value,
        [](const std::vector<T>& block, const T& wanted) { return block.back() < wanted; });
    return static_cast<std::size_t>(at - blocks_.begin());
  }

  std::vector<std::vector<T>> blocks_;  // none is empty
};

}  // namespace muster
