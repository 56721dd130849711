#include "solve/worst_ratio.h"

#include <algorithm>
#include <cmath>

#include "solve/dense_factor.h"
#include "solve/dense_lu.h"
#include "solve/stop_solving.h"

namespace muster {
namespace {

class RatioBarrier {
 public:
  explicit RatioBarrier(const RatioProgram& program)
      : program_(program), kinds_(program.capacity.size()), barriers_(0) {
    // A logarithm counts one, the barrier of a cone, log x + 2 log u, three.
    for (std::size_t i = 0; i < program.rows.size(); ++i) {
      const RatioProgram::Row& row = program.rows[i];
      barriers_ += row.copies * (1 + (row.whole > 0 ? 3 : 0));
      for (std::size_t k = 0; k < kinds_; ++k) barriers_ += there(i, k) ? row.copies : 0;
    }
    barriers_ += static_cast<double>(kinds_);
  }

  // Follows the central path: at the centre for tau the ratio is at most barriers / tau from the
  // best, so the number of centrings is logarithmic in the tolerance.
  std::optional<RatioAnswer> solve(double tolerance) {
    if (!begin()) return std::nullopt;
    // The growth of tau per outer iteration. Over a wide range the total number of Newton steps
    // hardly depends on it (Boyd and Vandenberghe, section 11.3.1).
    constexpr double kGrowth = 20;
    double tau = barriers_ / ratio_;
    for (;; tau *= kGrowth) {
      if (!centre(tau)) return std::nullopt;
      if (barriers_ / tau < tolerance * ratio_) break;
    }
    return RatioAnswer{ratio_, x_};
  }

 private:
  bool there(std::size_t i, std::size_t k) const { return rate(i, k) >= 0; }
  double rate(std::size_t i, std::size_t k) const { return program_.rates[i * kinds_ + k]; }
  double speed(const std::vector<double>& x, std::size_t i) const {
    double sum = 0;
    for (std::size_t k = 0; k < kinds_; ++k) {
      if (there(i, k)) sum += rate(i, k) * x[i * kinds_ + k];
    }
    return sum;
  }

  // A strictly feasible point: half of an equal allocation, and twice the ratio that this gives.
  bool begin() {
    std::vector<double> wanted(kinds_, 0.0);
    for (std::size_t i = 0; i < program_.rows.size(); ++i) {
      const RatioProgram::Row& row = program_.rows[i];
      for (std::size_t k = 0; k < kinds_; ++k)
        wanted[k] += there(i, k) ? row.copies * row.units : 0;
    }
    x_.assign(program_.rates.size(), 0.0);
    ratio_ = 0;
    for (std::size_t i = 0; i < program_.rows.size(); ++i) {
      for (std::size_t k = 0; k < kinds_; ++k) {
        if (!there(i, k)) continue;
        if (!(program_.capacity[k] > 0)) return false;
        // Half of the equal part leaves every logarithm a positive argument.
        const double part = std::min(1.0, program_.capacity[k] / wanted[k]);
        x_[i * kinds_ + k] = 0.5 * part / static_cast<double>(kinds_);
      }
      const RatioProgram::Row& row = program_.rows[i];
      if (!(row.whole > 0)) continue;
      const double x = speed(x_, i);
      if (!(x > 0)) return false;
      ratio_ = std::max(ratio_, 2 * (row.age + 1 / x) / row.whole);
    }
    return ratio_ > 0 && std::isfinite(ratio_);
  }

  // What is maximised; minus infinity outside.
  double value(const std::vector<double>& x, double ratio, double tau) const {
    double sum = -tau * ratio;
    std::vector<double> left = program_.capacity;
    for (std::size_t i = 0; i < program_.rows.size(); ++i) {
      const RatioProgram::Row& row = program_.rows[i];
      double product = 1;
      double idle = 1;
      for (std::size_t k = 0; k < kinds_; ++k) {
        if (!there(i, k)) continue;
        const double one = x[i * kinds_ + k];
        if (!(one > 0)) return -HUGE_VAL;
        product *= one;
        idle -= one;
        left[k] -= row.copies * row.units * one;
      }
      if (!(idle > 0)) return -HUGE_VAL;
      sum += row.copies * (std::log(product) + std::log(idle));
      if (!(row.whole > 0)) continue;
      const double fast = speed(x, i);
      const double slack = ratio * row.whole - row.age - 1 / fast;
      if (!(slack > 0)) return -HUGE_VAL;
      sum += row.copies * (std::log(fast) + 2 * std::log(slack));
    }
    for (const double one : left) {
      if (!(one > 0)) return -HUGE_VAL;
      sum += std::log(one);
    }
    return sum;
  }

  // Newton's method from where it is to the maximum for this tau.
  bool centre(double tau) {
    constexpr int kMostSteps = 200;
    constexpr double kNear = 1e-7;  // of half the square of Newton's decrement
    double now = value(x_, ratio_, tau);
    for (int step = 0; step < kMostSteps; ++step) {
      StopSolving::look();
      // Half of the squared Newton decrement: an estimate of how far the value is from the maximum
      // (Boyd and Vandenberghe, section 9.5.1).
      const double gain = direction(tau);
      if (!std::isfinite(gain)) return false;
      if (gain < kNear) return true;
      // Backtracking line search with Armijo's condition.
      double length = 1;
      double next = -HUGE_VAL;
      for (int halves = 0; halves < 60; ++halves, length /= 2) {
        moved_ = x_;
        for (std::size_t v = 0; v < moved_.size(); ++v) moved_[v] += length * step_[v];
        next = value(moved_, ratio_ + length * ratio_step_, tau);
        if (next >= now + 0.1 * length * gain) break;
      }
      // Rounding leaves nothing to gain any more.
      if (!(next > now)) return gain < 1e-3;
      x_.swap(moved_);
      ratio_ += length * ratio_step_;
      now = next;
    }
    return false;
  }

  // What a row adds to a Newton step. The curvature of its last barrier, of u = rho whole - age -
  // 1 / x, grows without bound where the row sets the ratio; its multiplier is therefore a variable
  // of its own, so that nothing large is subtracted from something as large.
  struct Part {
    std::vector<std::size_t> kinds;
    std::vector<double> factor;  // of the curvature B without that barrier
    std::vector<double> slope;   // g, by fraction
    std::vector<double> free;    // B^-1 g
    std::vector<double> turn;    // t = B^-1 T / x^2
    double width = HUGE_VAL;     // q = T' t / x^2 + u^2 / (2 copies); without bound: no ratio
    double promised = 0;         // t' g
  };

  void differentiate(std::size_t i, const std::vector<double>& left, Part& part) const {
    const RatioProgram::Row& row = program_.rows[i];
    const double* x = x_.data() + i * kinds_;
    part.kinds.clear();
    double idle = 1;
    for (std::size_t k = 0; k < kinds_; ++k) {
      if (!there(i, k)) continue;
      part.kinds.push_back(k);
      idle -= x[k];
    }
    const std::size_t n = part.kinds.size();
    const bool rated = row.whole > 0;
    const double fast = rated ? speed(x_, i) : 1;
    const double slack = rated ? ratio_ * row.whole - row.age - 1 / fast : 1;
    // First and second derivatives of log x + 2 log u by the speed x, without the rank-one term of
    // u, which differentiate() leaves to `turn` and `width`.
    const double pull = rated ? 1 / fast + 2 / (slack * fast * fast) : 0;
    const double bend = rated ? 1 / (fast * fast) + 4 / (slack * fast * fast * fast) : 0;
    part.factor.assign(n * n, 0.0);
    part.slope.assign(n, 0.0);
    part.turn.assign(n, 0.0);
    for (std::size_t a = 0; a < n; ++a) {
      const std::size_t k = part.kinds[a];
      part.slope[a] = row.copies * (1 / x[k] - 1 / idle + pull * rate(i, k) - row.units / left[k]);
      part.turn[a] = rate(i, k) / (fast * fast);
      for (std::size_t b = 0; b < n; ++b) {
        part.factor[a * n + b] =
            row.copies * (1 / (idle * idle) + bend * rate(i, k) * rate(i, part.kinds[b]));
      }
      part.factor[a * n + a] += row.copies / (x[k] * x[k]);
    }
    cholesky(part.factor.data(), n);
    // The block of this row is eliminated by Cholesky's method, O(kinds^3).
    part.free = part.slope;
    solve_with(part, part.free);
    part.width = HUGE_VAL;
    part.promised = 0;
    if (!rated) return;
    const std::vector<double> before = part.turn;
    solve_with(part, part.turn);
    part.width = dot(before.data(), part.turn.data(), n) + slack * slack / (2 * row.copies);
    part.promised = dot(part.turn.data(), part.slope.data(), n);
  }
  static void solve_with(const Part& part, std::vector<double>& right) {
    solve_forward(part.factor.data(), part.kinds.size(), right.data());
    solve_backward(part.factor.data(), part.kinds.size(), right.data());
  }

  // The rows eliminated, what is left of a Newton step is a system of the prices of the kinds and
  // the change of rho.
  void add(std::size_t i, const Part& part) {
    const RatioProgram::Row& row = program_.rows[i];
    const double held = row.copies * row.units;
    const std::size_t n = part.kinds.size();
    // Sherman and Morrison's formula: the rank-one curvature of the row's cone enters as turn turn'
    // / width.
    const double scale = row.whole > 0 ? row.whole / part.width : 0;
    column_.resize(n);
    for (std::size_t a = 0; a < n; ++a) {
      const std::size_t k = part.kinds[a];
      std::fill(column_.begin(), column_.end(), 0.0);
      column_[a] = 1;
      solve_with(part, column_);
      for (std::size_t b = a; b < n; ++b) {
        const double both = column_[b] - part.turn[a] * part.turn[b] / part.width;
        system_.at(part.kinds[b], k) += held * held * both;
      }
      answer_[k] += held * (part.free[a] - part.turn[a] * part.promised / part.width);
      system_.at(kinds_, k) += scale * held * part.turn[a];
    }
    system_.at(kinds_, kinds_) -= scale * row.whole;
    answer_[kinds_] += scale * part.promised;
  }

  // Newton's direction; returns the gain that it promises.
  double direction(double tau) {
    std::vector<double> left = program_.capacity;
    double slope = -tau;  // by rho
    for (std::size_t i = 0; i < program_.rows.size(); ++i) {
      const RatioProgram::Row& row = program_.rows[i];
      for (std::size_t k = 0; k < kinds_; ++k) {
        if (there(i, k)) left[k] -= row.copies * row.units * x_[i * kinds_ + k];
      }
      if (!(row.whole > 0)) continue;
      const double slack = ratio_ * row.whole - row.age - 1 / speed(x_, i);
      slope += row.copies * 2 * row.whole / slack;
    }
    system_.resize(kinds_ + 1);
    system_.clear();
    answer_.assign(kinds_ + 1, 0.0);
    // The inverse curvature of the barriers of the capacities, whose variables are the changes of
    // the prices.
    for (std::size_t k = 0; k < kinds_; ++k) system_.at(k, k) = left[k] * left[k];
    answer_[kinds_] = -slope;
    parts_.resize(program_.rows.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      differentiate(i, left, parts_[i]);
      add(i, parts_[i]);
    }
    if (!system_.factor()) return std::nan("");
    system_.solve(answer_);
    ratio_step_ = answer_[kinds_];
    // The decrement: gradient times direction, over rho and all rows.
    double gain = slope * ratio_step_;
    step_.assign(x_.size(), 0.0);
    for (std::size_t i = 0; i < parts_.size(); ++i) gain += follow(i, parts_[i]);
    return gain / 2;
  }

  // Writes the row's part of the direction; returns its slope along it.
  double follow(std::size_t i, const Part& part) {
    const RatioProgram::Row& row = program_.rows[i];
    const double held = row.copies * row.units;
    column_ = part.slope;
    for (std::size_t a = 0; a < column_.size(); ++a) column_[a] -= held * answer_[part.kinds[a]];
    const double multiplier =
        row.whole > 0
            ? (row.whole * ratio_step_ + dot(part.turn.data(), column_.data(), column_.size())) /
                  part.width
            : 0;
    solve_with(part, column_);
    double gain = 0;
    for (std::size_t a = 0; a < column_.size(); ++a) {
      const double change = column_[a] - part.turn[a] * multiplier;
      step_[i * kinds_ + part.kinds[a]] = change;
      gain += part.slope[a] * change;
    }
    return gain;
  }

  const RatioProgram& program_;
  std::size_t kinds_;
  double barriers_;
  double ratio_ = 0;
  std::vector<double> x_;  // by row and kind
  double ratio_step_ = 0;
  std::vector<double> step_;
  std::vector<double> moved_;
  std::vector<Part> parts_;
  DenseLu system_;
  std::vector<double> answer_;
  std::vector<double> column_;
};

}  // namespace

std::optional<RatioAnswer> smallest_worst_ratio(const RatioProgram& program, double tolerance) {
  return RatioBarrier(program).solve(tolerance);
}

}  // namespace muster
