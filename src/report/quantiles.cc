#include "report/quantiles.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>

namespace muster {
namespace {

// 52 mantissa bits, of which the bucket keeps 10.
constexpr int kDroppedBits = 42;
constexpr double kLeastMagnitude = 1e-6;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::size_t bucket_of(double magnitude) {
  return static_cast<std::size_t>(std::bit_cast<std::uint64_t>(magnitude) >> kDroppedBits);
}

double middle_of(std::size_t bucket) {
  const std::uint64_t start = static_cast<std::uint64_t>(bucket) << kDroppedBits;
  return std::bit_cast<double>(start + (std::uint64_t{1} << (kDroppedBits - 1)));
}

}  // namespace

void LogHistogram::add(double magnitude) {
  const std::size_t bucket = bucket_of(magnitude);
  if (counts_.empty()) base_ = bucket;
  if (bucket < base_) {
    counts_.insert(counts_.begin(), base_ - bucket, 0);
    base_ = bucket;
  }
  if (bucket - base_ >= counts_.size()) counts_.resize(bucket - base_ + 1);
  ++counts_[bucket - base_];
  ++count_;
}

double LogHistogram::value_at(std::uint64_t rank) const {
  assert(rank < count_);
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (rank < counts_[i]) return middle_of(base_ + i);
    rank -= counts_[i];
  }
  return kNone;
}

void Quantiles::add(double value) {
  assert(!std::isnan(value));
  least_ = count_ == 0 ? value : std::min(least_, value);
  greatest_ = count_ == 0 ? value : std::max(greatest_, value);
  ++count_;
  sum_.add(value);
  if (folded_) {
    count_folded(value);
    return;
  }
  // Of a long stream room for all that may come is taken at once: pages that are never written cost
  // nothing, while growing by doubling would leave copies behind that the system does not get back.
  constexpr std::size_t kLong = std::size_t{1} << 16;
  if (values_.size() == kLong) values_.reserve(exact_limit_ + 1);
  sorted_ = sorted_ && (values_.empty() || values_.back() <= value);
  values_.push_back(value);
  if (values_.size() > exact_limit_) fold();
}

void Quantiles::fold() {
  folded_ = true;
  for (const double value : values_) count_folded(value);
  values_ = {};
}

void Quantiles::count_folded(double value) {
  if (std::abs(value) < kLeastMagnitude) {
    ++zeros_;
  } else {
    (value < 0 ? below_ : above_).add(std::abs(value));
  }
}

double Quantiles::mean() const { return count_ == 0 ? kNone : sum() / static_cast<double>(count_); }
double Quantiles::least() const { return count_ == 0 ? kNone : least_; }
double Quantiles::greatest() const { return count_ == 0 ? kNone : greatest_; }

double Quantiles::at_rank(std::uint64_t rank) const {
  if (rank == 0) return least_;
  if (rank + 1 == count_) return greatest_;
  if (!folded_) {
    // A few ranks are found faster than all values are sorted.
    if (!sorted_) {
      const auto place = values_.begin() + static_cast<std::ptrdiff_t>(rank);
      std::nth_element(values_.begin(), place, values_.end());
    }
    return values_[rank];
  }
  double value = 0;
  if (rank < below_.count()) {
    value = -below_.value_at(below_.count() - 1 - rank);
  } else if (rank >= below_.count() + zeros_) {
    value = above_.value_at(rank - below_.count() - zeros_);
  }
  return std::clamp(value, least_, greatest_);
}

double Quantiles::at(double fraction) const {
  if (count_ == 0) return kNone;
  const double place = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count_ - 1);
  const auto rank = static_cast<std::uint64_t>(place);
  const double low = at_rank(rank);
  const double part = place - static_cast<double>(rank);
  if (part == 0) return low;
  const double high = at_rank(rank + 1);
  return low == high ? low : low + (high - low) * part;
}

std::vector<CurvePoint> Quantiles::curve(std::size_t points) const {
  std::vector<CurvePoint> result;
  if (count_ == 0 || points == 0) return result;
  if (!sorted_) std::sort(values_.begin(), values_.end());
  sorted_ = true;
  const std::uint64_t steps = std::min<std::uint64_t>(points, count_);
  for (std::uint64_t i = 0; i < steps; ++i) {
    // The last of the i-th of `steps` equal parts, so that the greatest value always ends the
    // curve.
    const auto upto = static_cast<std::uint64_t>(std::ceil(
        static_cast<double>(i + 1) * static_cast<double>(count_) / static_cast<double>(steps)));
    const double value = at_rank(std::min(upto, count_) - 1);
    const double fraction =
        static_cast<double>(std::min(upto, count_)) / static_cast<double>(count_);
    if (!result.empty() && value == result.back().value) {
      result.back().fraction = fraction;
    } else {
      result.push_back({value, fraction});
    }
  }
  return result;
}

}  // namespace muster
