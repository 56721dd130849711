// How many jobs and GPUs are expected to be submitted, slot by slot, and perhaps how many nodes
// will be in use. Policies that prepare for load read it: sharing that is switched by load,
// profilers that grow, nodes that are powered down.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "model/ids.h"

namespace muster {

class Forecast {
 public:
  struct Slot {
    double jobs = 0;   // submitted in the slot
    double gpus = 0;   // that they ask for
    double nodes = 0;  // in use on average; only where has_nodes()
  };

  Forecast(Seconds begin, Seconds slot_length, std::vector<Slot> slots, bool has_nodes = false)
      : begin_(begin), length_(slot_length), slots_(std::move(slots)), has_nodes_(has_nodes) {}

  // The slots that begin after `now`, at most `count` of them; fewer near the end, none behind it.
  std::span<const Slot> next(Seconds now, int count) const {
    const std::size_t first = first_after(now);
    const std::size_t last = std::min(slots_.size(), first + static_cast<std::size_t>(count));
    return std::span(slots_).subspan(std::min(first, last), last - std::min(first, last));
  }
  // The position of the first of them; size() if there is none.
  std::size_t first_after(Seconds now) const {
    if (now < begin_) return 0;
    return std::min(slots_.size(), static_cast<std::size_t>((now - begin_) / length_) + 1);
  }
  Seconds begin() const { return begin_; }
  Seconds slot_length() const { return length_; }
  Seconds end() const { return begin_ + length_ * static_cast<double>(slots_.size()); }
  std::size_t size() const { return slots_.size(); }
  bool has_nodes() const { return has_nodes_; }
  const Slot& operator[](std::size_t i) const { return slots_[i]; }

 private:
  Seconds begin_;
  Seconds length_;
  std::vector<Slot> slots_;
  bool has_nodes_;
};

}  // namespace muster
