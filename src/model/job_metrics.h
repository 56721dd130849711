// Numbers that jobs report under names of their own: loss, samples per second, use of the GPU.
// Observers hear all that reach the engine; policies see the latest of a few that the run names in
// advance (`metrics` in its description), so that what a job says costs nothing where nobody
// listens.
#pragma once

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/archive.h"
#include "base/symbols.h"
#include "model/ids.h"

namespace muster {

struct JobMetric {
  Seconds time = 0;
  JobId job = kNoJob;
  Symbol name = kNoSymbol;
  double value = 0;
};

// The latest values of active jobs, by slot.
class JobMetrics {
 public:
  static constexpr std::size_t kMost = 8;

  JobMetrics() = default;
  // `texts`: the same names, for policies that look them up by those.
  explicit JobMetrics(std::vector<Symbol> names, std::vector<std::string> texts = {})
      : names_(std::move(names)), texts_(std::move(texts)) {
    assert(names_.size() <= kMost && "policies see a few metrics");
  }
  const std::vector<Symbol>& names() const { return names_; }

  // The job's last report; empty: none yet, or it is not kept.
  std::optional<double> of(Slot slot, Symbol name) const {
    const std::size_t at = place(slot, name);
    if (at >= values_.size() || values_[at] != values_[at]) return std::nullopt;
    return values_[at];
  }
  std::optional<double> of(Slot slot, std::string_view name) const {
    const auto found = std::find(texts_.begin(), texts_.end(), name);
    if (found == texts_.end()) return std::nullopt;
    return of(slot, names_[static_cast<std::size_t>(found - texts_.begin())]);
  }
  void set(Slot slot, Symbol name, double value) {
    const std::size_t at = place(slot, name);
    if (at == kNowhere) return;
    if (values_.size() <= at) values_.resize((index(slot) + 1) * names_.size(), kUnknown);
    values_[at] = value;
  }
  // The job has left.
  void clear(Slot slot) {
    const std::size_t first = index(slot) * names_.size();
    if (first >= values_.size()) return;
    std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>(first), names_.size(), kUnknown);
  }
  void checkpoint(Archive& archive) { archive.list(values_); }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::size_t place(Slot slot, Symbol name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return kNowhere;
    return index(slot) * names_.size() + static_cast<std::size_t>(found - names_.begin());
  }

  std::vector<Symbol> names_;
  std::vector<std::string> texts_;  // of names_, in that order
  std::vector<double> values_;
};

}  // namespace muster
