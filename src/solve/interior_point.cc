#include "solve/interior_point.h"

#include <algorithm>
#include <cmath>

#include "solve/normal_system.h"
#include "solve/stop_solving.h"

namespace muster {
namespace {

class InteriorPoint {
 public:
  InteriorPoint(const LinearProgram& program, const InteriorPointOptions& options)
      : program_(program), options_(options), system_(program) {}

  LinearSolution solve() {
    start();
    LinearSolution solution;
    double best = HUGE_VAL;
    // The best iterate is kept: close to the optimum the KKT system is so ill-conditioned that
    // rounding can make a later iterate worse.
    int better = 0;  // the last step that was worth it
    for (int i = 0; i < options_.most_iterations; ++i) {
      StopSolving::look();
      measure();
      const double worst = std::max({primal_, dual_, gap_});
      if (!std::isfinite(worst) || !std::isfinite(mu_)) break;
      if (worst < best) {
        if (worst < 0.5 * best) better = i;
        best = worst;
        keep(solution, i);
      }
      if (worst <= options_.tolerance) break;
      // Rounding has the last word near the end: what was best stays.
      constexpr int kPatience = 15;
      if (best < 1e-6 && (worst > 1e3 * best || i - better > kPatience)) break;
      if (!step()) break;
    }
    constexpr double kGoodEnough = 1e-6;
    if (best <= std::max(kGoodEnough, options_.tolerance)) {
      solution.status = SolveStatus::kOptimal;
    } else {
      // A primal residual that does not shrink suggests that the constraints contradict each other;
      // the method has no certificate of infeasibility, unlike the homogeneous embedding.
      solution.status = primal_ > 1e-4 ? SolveStatus::kInfeasible : SolveStatus::kFailed;
    }
    return solution;
  }

 private:
  // All complementarity products are equal to the copies: on the central path except for residuals.
  void start() {
    const std::size_t n = program_.variables();
    const std::size_t m = program_.rows();
    x_.assign(n, 1.0);
    z_.resize(n);
    s_.resize(m);
    y_.resize(m);
    std::vector<double> used(m, 0.0);
    multiply(x_, used);
    for (std::size_t r = 0; r < m; ++r) {
      // The start need not be feasible: a slack that would be negative is replaced by the size of
      // its bound, and the difference becomes a primal residual.
      s_[r] = std::max(program_.bounds[r] - used[r], std::max(1.0, std::abs(program_.bounds[r])));
      y_[r] = program_.row_copies[r] / s_[r];
    }
    weight_ = 0;
    for (const double copies : program_.row_copies) weight_ += copies;
    for (std::size_t v = 0; v < n; ++v) {
      const double gain = program_.log_gains[v];
      z_[v] = (gain > 0 ? gain : program_.variable_copies[v]) / x_[v];
      if (!(gain > 0)) weight_ += program_.variable_copies[v];
    }
    linear_ = program_.linear();
    // Residuals are measured relative to the largest bound and the largest cost, the duality gap
    // relative to the objective.
    bound_scale_ = 1;
    for (const double bound : program_.bounds)
      bound_scale_ = std::max(bound_scale_, std::abs(bound));
    cost_scale_ = 1;
    for (const double cost : program_.costs) cost_scale_ = std::max(cost_scale_, std::abs(cost));
    dx_.resize(n);
    dz_.resize(n);
    d_.resize(n);
    ds_.resize(m);
    dy_.resize(m);
    f_.resize(m);
    right_.resize(m);
    xz_.resize(n);
    sy_.resize(m);
  }

  // rows += E v.
  void multiply(const std::vector<double>& v, std::vector<double>& rows) const {
    for (std::size_t j = 0; j < v.size(); ++j) {
      for (std::size_t t = program_.first_term(j); t < program_.last_term(j); ++t) {
        rows[program_.terms[t].row] += program_.terms[t].value * v[j];
      }
    }
  }
  double dot_column(std::size_t variable, const std::vector<double>& rows) const {
    double sum = 0;
    for (std::size_t t = program_.first_term(variable); t < program_.last_term(variable); ++t) {
      sum += program_.terms[t].value * rows[program_.terms[t].row];
    }
    return sum;
  }

  // Residuals, duality gap and mu of the present point.
  void measure() {
    const std::size_t n = program_.variables();
    const std::size_t m = program_.rows();
    residual_p_.assign(m, 0.0);
    multiply(x_, residual_p_);
    primal_ = 0;
    double complement = 0;
    double off_path = 0;
    double bound = 0;
    for (std::size_t r = 0; r < m; ++r) {
      residual_p_[r] = program_.bounds[r] - residual_p_[r] - s_[r];
      primal_ = std::max(primal_, std::abs(residual_p_[r]));
      complement += s_[r] * y_[r];
      bound -= program_.bounds[r] * y_[r];
    }
    residual_d_.resize(n);
    dual_ = 0;
    cost_ = 0;
    for (std::size_t v = 0; v < n; ++v) {
      residual_d_[v] = program_.costs[v] + dot_column(v, y_) - z_[v];
      dual_ = std::max(dual_, std::abs(residual_d_[v]));
      cost_ += program_.costs[v] * x_[v];
      if (const double gain = program_.log_gains[v]; gain > 0) {
        cost_ -= gain * std::log(x_[v]);
        off_path += std::abs(x_[v] * z_[v] - gain);
      } else {
        complement += x_[v] * z_[v];
      }
    }
    // For a feasible pair x'z + s'y is the duality gap, c'x + b'y. Residuals make the two differ,
    // so the larger one counts.
    mu_ = complement / weight_;
    primal_ /= bound_scale_;
    dual_ /= cost_scale_;
    gap_ = complement + off_path;
    if (linear_) gap_ = std::max(gap_, std::abs(cost_ - bound));
    gap_ /= 1 + std::abs(cost_);
  }

  void keep(LinearSolution& solution, int iteration) const {
    solution.x = x_;
    solution.duals = y_;
    solution.slack = s_;
    solution.cost = cost_;
    solution.gap = gap_;
    solution.iterations = iteration;
  }

  // What the product of a variable and its dual should be: mu for each copy on the central path, or
  // the gain itself, as the slope of gain * log x is gain / x.
  double product(std::size_t variable, double mu) const {
    const double gain = program_.log_gains[variable];
    return gain > 0 ? gain : mu * program_.variable_copies[variable];
  }

  // The Newton direction for the changes of the complementarity products in xz_ and sy_: dx, dz and
  // ds are eliminated, which leaves the normal equations for dy.
  void direction() {
    const std::size_t n = program_.variables();
    const std::size_t m = program_.rows();
    // Right side of the normal equations: the primal residual and the complementarity terms that
    // the eliminated dx and ds leave behind.
    for (std::size_t v = 0; v < n; ++v) dx_[v] = (xz_[v] - x_[v] * residual_d_[v]) / z_[v];
    for (std::size_t r = 0; r < m; ++r) right_[r] = sy_[r] / y_[r] - residual_p_[r];
    multiply(dx_, right_);
    system_.solve(right_, dy_);
    for (std::size_t v = 0; v < n; ++v) {
      dz_[v] = residual_d_[v] + dot_column(v, dy_);
      dx_[v] = (xz_[v] - x_[v] * dz_[v]) / z_[v];
    }
    for (std::size_t r = 0; r < m; ++r) ds_[r] = (sy_[r] - s_[r] * dy_[r]) / y_[r];
  }

  // The step length at which the first of them would reach zero.
  static double longest(const std::vector<double>& at, const std::vector<double>& by) {
    double most = 1e30;
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (by[i] < 0) most = std::min(most, -at[i] / by[i]);
    }
    return most;
  }

  // One iteration of Mehrotra's method. The factors serve both directions, and they are nearly all
  // of the cost. False if there is no further step.
  bool step() {
    const std::size_t n = program_.variables();
    const std::size_t m = program_.rows();
    for (std::size_t v = 0; v < n; ++v) d_[v] = x_[v] / z_[v];
    for (std::size_t r = 0; r < m; ++r) f_[r] = s_[r] / y_[r];
    if (!system_.factor(d_, f_)) return false;
    // Predictor, or affine scaling direction: straight for complementarity, mu = 0.
    for (std::size_t v = 0; v < n; ++v) xz_[v] = product(v, 0) - x_[v] * z_[v];
    for (std::size_t r = 0; r < m; ++r) sy_[r] = -s_[r] * y_[r];
    direction();
    // Ratio tests, separately for primal and dual: in a linear program their feasibility does not
    // depend on each other, and two lengths save iterations (Wright, chapter 10).
    const double primal = std::min({1.0, longest(x_, dx_), longest(s_, ds_)});
    const double dual = std::min({1.0, longest(z_, dz_), longest(y_, dy_)});
    double after = 0;
    for (std::size_t v = 0; v < n; ++v) {
      if (program_.log_gains[v] > 0) continue;
      after += (x_[v] + primal * dx_[v]) * (z_[v] + dual * dz_[v]);
    }
    for (std::size_t r = 0; r < m; ++r) {
      after += (s_[r] + primal * ds_[r]) * (y_[r] + dual * dy_[r]);
    }
    // Mehrotra's choice: the better the predictor, the smaller the barrier parameter to aim for.
    const double ratio = after / weight_ / mu_;
    const double target = std::min(1.0, ratio * ratio * ratio) * mu_;
    // Corrector: back to the central path at that mu, less the products dx dz and ds dy that the
    // linearisation left out.
    for (std::size_t v = 0; v < n; ++v) {
      xz_[v] = product(v, target) - x_[v] * z_[v] - dx_[v] * dz_[v];
    }
    for (std::size_t r = 0; r < m; ++r) {
      sy_[r] = target * program_.row_copies[r] - s_[r] * y_[r] - ds_[r] * dy_[r];
    }
    direction();
    constexpr double kInside = 0.99;  // of the way to the boundary
    double p = std::min(1.0, kInside * std::min(longest(x_, dx_), longest(s_, ds_)));
    double q = std::min(1.0, kInside * std::min(longest(z_, dz_), longest(y_, dy_)));
    // With logarithms primal and dual are coupled, as in a quadratic program: one length for both
    // (Nocedal and Wright, section 16.6).
    if (!linear_) p = q = std::min(p, q);
    // Steps of length zero mean that the iterates are stuck at the boundary; more iterations would
    // only add rounding errors.
    if (!(p > 0) || !(q > 0) || (p < 1e-10 && q < 1e-10)) return false;
    for (std::size_t v = 0; v < n; ++v) {
      x_[v] += p * dx_[v];
      z_[v] += q * dz_[v];
    }
    for (std::size_t r = 0; r < m; ++r) {
      s_[r] += p * ds_[r];
      y_[r] += q * dy_[r];
    }
    return true;
  }

  const LinearProgram& program_;
  InteriorPointOptions options_;
  NormalSystem system_;
  std::vector<double> x_, z_, s_, y_;
  std::vector<double> dx_, dz_, ds_, dy_;
  std::vector<double> d_, f_, right_, xz_, sy_;
  std::vector<double> residual_p_, residual_d_;
  bool linear_ = true;
  double weight_ = 0;
  double bound_scale_ = 1;
  double cost_scale_ = 1;
  double primal_ = 0;
  double dual_ = 0;
  double gap_ = 0;
  double mu_ = 0;
  double cost_ = 0;
};

}  // namespace

LinearSolution solve_interior(const LinearProgram& program, const InteriorPointOptions& options) {
  return InteriorPoint(program, options).solve();
}

}  // namespace muster
