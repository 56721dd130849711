// Quantiles of a stream of values in bounded memory.
//
// Up to `exact_limit` values are kept as they are and the answers are exact (linear interpolation
// between neighbouring ranks, as NumPy does by default). Beyond that they are folded into buckets
// of equal relative width, 1,024 to a factor of two, and the answers are off by at most 0.05 % of
// the value; magnitudes below a microsecond then count as zero. Count, sum, least and greatest stay
// exact.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster {

// A sum that does not lose small terms added to large ones (Neumaier's compensated summation).
class Sum {
 public:
  void add(double value) {
    const double next = total_ + value;
    const bool large = std::abs(total_) >= std::abs(value);
    lost_ += large ? (total_ - next) + value : (value - next) + total_;
    total_ = next;
  }
  double value() const { return total_ + lost_; }

 private:
  double total_ = 0;
  double lost_ = 0;
};

// Counts per bucket of the magnitudes of doubles: the leading bits of a positive double are its
// bucket.
class LogHistogram {
 public:
  void add(double magnitude);
  std::uint64_t count() const { return count_; }
  // The middle of the bucket that holds the `rank`-th smallest value, from 0.
  double value_at(std::uint64_t rank) const;

 private:
  std::vector<std::uint64_t> counts_;  // of buckets base_, base_ + 1, ...
  std::size_t base_ = 0;
  std::uint64_t count_ = 0;
};

struct CurvePoint {
  double value = 0;
  double fraction = 0;  // of values that are at most `value`
};

class Quantiles {
 public:
  static constexpr std::size_t kExactLimit = std::size_t{1} << 20;

  explicit Quantiles(std::size_t exact_limit = kExactLimit) : exact_limit_(exact_limit) {}

  void add(double value);

  std::uint64_t count() const { return count_; }
  bool exact() const { return !folded_; }
  double sum() const { return sum_.value(); }
  double mean() const;  // NaN when there are no values, as below
  double least() const;
  double greatest() const;
  // The value below which `fraction` of all values lie.
  double at(double fraction) const;
  // The distribution function in at most `points` points, rising in both coordinates.
  std::vector<CurvePoint> curve(std::size_t points) const;

 private:
  void fold();
  void count_folded(double value);
  double at_rank(std::uint64_t rank) const;

  std::size_t exact_limit_;
  // Reordered on demand: the values are a multiset, so their order does not matter.
  mutable std::vector<double> values_;
  mutable bool sorted_ = true;
  bool folded_ = false;
  LogHistogram below_;  // magnitudes of negative values
  LogHistogram above_;
  std::uint64_t zeros_ = 0;
  std::uint64_t count_ = 0;
  Sum sum_;
  double least_ = 0;
  double greatest_ = 0;
};

}  // namespace muster
