#include "solve/homogeneous.h"

#include <algorithm>
#include <cmath>

#include "solve/equilibration.h"
#include "solve/kkt_system.h"
#include "solve/stop_solving.h"

namespace muster {
namespace {

std::vector<char> marked_as_free(const LinearProgram& program) {
  std::vector<char> is_free(program.variables(), 0);
  for (const std::size_t v : program.shared) is_free[v] = 1;
  return is_free;
}

// The entries in the rows of signs after scaling; 0 for free variables.
std::vector<double> scaled_signs(const Equilibration& scale, const std::vector<char>& is_free) {
  std::vector<double> signs(is_free.size(), 0.0);
  for (std::size_t v = 0; v < signs.size(); ++v) {
    if (is_free[v] == 0) signs[v] = 1 / (scale.signs[v] * scale.columns[v]);
  }
  return signs;
}

// Slacks or dual variables: of the rows of signs, which free variables do not have, and of rows.
struct Positive {
  std::vector<double> sign;
  std::vector<double> row;
};

double dot_of(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

class Homogeneous {
 public:
  Homogeneous(const LinearProgram& program, const HomogeneousOptions& options)
      : is_free_(marked_as_free(program)),
        scale_(equilibrate(program, is_free_, options.rounds)),
        program_(equilibrated(program, scale_)),
        signs_(scaled_signs(scale_, is_free_)),
        kkt_(program_, signs_),
        options_(options) {
    for (const double copies : program_.row_copies) weight_ += copies;
    for (std::size_t v = 0; v < signs_.size(); ++v) {
      sign_copies_.push_back(is_free_[v] != 0 ? 0 : program_.variable_copies[v]);
      weight_ += sign_copies_[v];
    }
  }

  // An iteration costs one factorisation of the KKT system and three solves with it.
  LinearSolution solve() {
    LinearSolution solution;
    if (!start()) return solution;
    constexpr int kMostIterations = 100;
    constexpr double kGoodEnough = 1e-6;
    double worst = HUGE_VAL;
    for (int i = 0; i < kMostIterations; ++i) {
      StopSolving::look();
      worst = measure();
      // All of primal residual, dual residual and duality gap fall in proportion, so one number
      // tells how far the iterate is from the optimum.
      if (!std::isfinite(worst) || worst <= options_.tolerance || !step()) break;
      solution.iterations = i + 1;
    }
    if (std::isfinite(mu_) && worst <= std::max(kGoodEnough, options_.tolerance)) write(solution);
    return solution;
  }

 private:
  // The least-squares point: the least slacks in the sum of squares, and the least dual variables;
  // each moved into the positive orthant where it is not there.
  bool start() {
    const std::size_t n = signs_.size();
    std::vector<double> sign_weights(n, 1.0);
    std::vector<double> row_weights(program_.rows());
    for (std::size_t v = 0; v < n; ++v) sign_weights[v] = 1 / program_.variable_copies[v];
    for (std::size_t r = 0; r < row_weights.size(); ++r) {
      row_weights[r] = 1 / program_.row_copies[r];
    }
    if (!kkt_.factor(sign_weights, row_weights)) return false;
    right_.x.assign(n, 0.0);
    right_.sign.assign(n, 0.0);
    right_.row = program_.bounds;
    kkt_.solve(right_, step_);
    // The primal point: the x whose slack s = h - G x has the least norm.
    x_ = step_.x;
    slack_ = {step_.sign, step_.row};
    for (std::size_t v = 0; v < n; ++v) slack_.sign[v] *= -sign_weights[v];
    for (std::size_t r = 0; r < row_weights.size(); ++r) slack_.row[r] *= -row_weights[r];
    for (std::size_t v = 0; v < n; ++v) right_.x[v] = -program_.costs[v];
    right_.row.assign(program_.rows(), 0.0);
    kkt_.solve(right_, step_);
    // The dual point: the least-norm solution of G'z = -c.
    dual_ = {step_.sign, step_.row};
    make_positive(slack_, false);
    make_positive(dual_, true);
    tau_ = kappa_ = 1;
    return true;
  }

  // Moves all values by the same amount, so that the least becomes 1 where it was not positive.
  // `summed`: the values are those of all copies together.
  void make_positive(Positive& values, bool summed) const {
    double least = HUGE_VAL;
    const auto each = [&](const auto& visit) {
      for (std::size_t v = 0; v < values.sign.size(); ++v) {
        if (is_free_[v] == 0) visit(values.sign[v], summed ? sign_copies_[v] : 1);
      }
      for (std::size_t r = 0; r < values.row.size(); ++r) {
        visit(values.row[r], summed ? program_.row_copies[r] : 1);
      }
    };
    each([&](double value, double copies) { least = std::min(least, value / copies); });
    if (least > 0) return;
    each([&](double& value, double copies) { value += copies * (1 - least); });
  }

  // Residuals and mu. The largest of what is left, relative.
  double measure() {
    const std::size_t n = signs_.size();
    kkt_.multiply(x_, residual_.row);
    residual_.x.resize(n);
    residual_.sign.assign(n, 0.0);
    double primal = 0;
    double dual = 0;
    double complement = dot_of(slack_.row, dual_.row);
    for (std::size_t v = 0; v < n; ++v) {
      residual_.x[v] = kkt_.dot_column(v, dual_.row) + program_.costs[v] * tau_;
      if (is_free_[v] == 0) {
        residual_.x[v] -= signs_[v] * dual_.sign[v];
        residual_.sign[v] = slack_.sign[v] - signs_[v] * x_[v];
        complement += slack_.sign[v] * dual_.sign[v];
      }
      dual = std::max(dual, std::abs(residual_.x[v]));
      primal = std::max(primal, std::abs(residual_.sign[v]));
    }
    for (std::size_t r = 0; r < program_.rows(); ++r) {
      residual_.row[r] += slack_.row[r] - program_.bounds[r] * tau_;
      primal = std::max(primal, std::abs(residual_.row[r]));
    }
    cost_ = dot_of(program_.costs, x_);
    residual_gap_ = kappa_ + cost_ + dot_of(program_.bounds, dual_.row);
    // The embedding has one product more than the program, tau kappa. The gap is that of the
    // program, in x / tau and z / tau.
    mu_ = (complement + tau_ * kappa_) / (weight_ + 1);
    gap_ = complement / (tau_ * tau_) / std::max(1.0, std::abs(cost_ / tau_));
    const double worst = std::max({primal / tau_, dual / tau_, gap_});
    return std::isfinite(mu_) ? worst : mu_;
  }

  // Newton's direction to products of slack and dual that change by the target, and to sigma times
  // the residuals, as with mu: the invariant of the method. The slacks are eliminated, and
  // the solution is split by tau: step = (solution for the right side) + dtau by_tau, where dtau
  // follows from the row of the gap.
  void find_direction(double sigma) {
    const double part = 1 - sigma;
    for (std::size_t v = 0; v < signs_.size(); ++v) {
      right_.x[v] = -part * residual_.x[v];
      right_.sign[v] =
          is_free_[v] != 0 ? 0 : -part * residual_.sign[v] - target_.sign[v] / dual_.sign[v];
    }
    for (std::size_t r = 0; r < program_.rows(); ++r) {
      right_.row[r] = -part * residual_.row[r] - target_.row[r] / dual_.row[r];
    }
    kkt_.solve(right_, step_);
    // The row of the gap, a Schur complement of order one: it fixes dtau, and with it the multiple
    // of by_tau_ that belongs to the step.
    dtau_ = (-part * residual_gap_ - target_tau_ / tau_ - dot_of(program_.costs, step_.x) -
             dot_of(program_.bounds, step_.row)) /
            (along_tau_ - kappa_ / tau_);
    dkappa_ = (target_tau_ - kappa_ * dtau_) / tau_;
    for (std::size_t v = 0; v < signs_.size(); ++v) {
      step_.x[v] += dtau_ * by_tau_.x[v];
      if (is_free_[v] != 0) continue;
      step_.sign[v] += dtau_ * by_tau_.sign[v];
      change_.sign[v] = (target_.sign[v] - slack_.sign[v] * step_.sign[v]) / dual_.sign[v];
    }
    for (std::size_t r = 0; r < program_.rows(); ++r) {
      step_.row[r] += dtau_ * by_tau_.row[r];
      change_.row[r] = (target_.row[r] - slack_.row[r] * step_.row[r]) / dual_.row[r];
    }
  }

  // The step length at which the first of all positive numbers would reach zero. Primal and dual
  // move together here: their residuals must shrink alike.
  double longest() const {
    double most = HUGE_VAL;
    const auto bound = [&most](double at, double by) {
      if (by < 0) most = std::min(most, -at / by);
    };
    for (std::size_t v = 0; v < signs_.size(); ++v) {
      if (is_free_[v] != 0) continue;
      bound(slack_.sign[v], change_.sign[v]);
      bound(dual_.sign[v], step_.sign[v]);
    }
    for (std::size_t r = 0; r < program_.rows(); ++r) {
      bound(slack_.row[r], change_.row[r]);
      bound(dual_.row[r], step_.row[r]);
    }
    bound(tau_, dtau_);
    bound(kappa_, dkappa_);
    return most;
  }

  // The products that a direction should reach: sigma mu on the central path, less those there are
  // and, in the corrector, less what the predictor's changes add to them.
  void set_target(double sigma, bool corrects) {
    const double middle = sigma * mu_;
    const double second = corrects ? 1 : 0;
    target_.sign.assign(signs_.size(), 0.0);
    target_.row.resize(program_.rows());
    change_.sign.resize(signs_.size());
    change_.row.resize(program_.rows());
    for (std::size_t v = 0; v < signs_.size(); ++v) {
      if (is_free_[v] != 0) continue;
      target_.sign[v] = middle * sign_copies_[v] - slack_.sign[v] * dual_.sign[v];
      if (corrects) target_.sign[v] -= change_.sign[v] * step_.sign[v];
    }
    for (std::size_t r = 0; r < program_.rows(); ++r) {
      target_.row[r] = middle * program_.row_copies[r] - slack_.row[r] * dual_.row[r];
      if (corrects) target_.row[r] -= change_.row[r] * step_.row[r];
    }
    target_tau_ = middle - tau_ * kappa_ - second * dtau_ * dkappa_;
  }

  // Predictor (sigma = 0) and corrector. False if there is no further step.
  bool step() {
    const std::size_t n = signs_.size();
    std::vector<double>& sign_weights = weights_.sign;
    std::vector<double>& row_weights = weights_.row;
    sign_weights.assign(n, 1.0);
    row_weights.resize(program_.rows());
    for (std::size_t v = 0; v < n; ++v) {
      if (is_free_[v] == 0) sign_weights[v] = slack_.sign[v] / dual_.sign[v];
    }
    for (std::size_t r = 0; r < row_weights.size(); ++r) {
      row_weights[r] = slack_.row[r] / dual_.row[r];
    }
    if (!kkt_.factor(sign_weights, row_weights)) return false;
    for (std::size_t v = 0; v < n; ++v) right_.x[v] = -program_.costs[v];
    right_.sign.assign(n, 0.0);
    right_.row = program_.bounds;
    // The direction for a change of tau alone depends only on the factors, so predictor and
    // corrector share it.
    kkt_.solve(right_, by_tau_);
    along_tau_ = dot_of(program_.costs, by_tau_.x) + dot_of(program_.bounds, by_tau_.row);
    // Predictor, or affine scaling direction.
    set_target(0, false);
    find_direction(0);
    // Centring: the farther the predictor can go, the less (the cube: Vandenberghe 2010).
    const double rest = 1 - std::min(1.0, longest());
    const double sigma = rest * rest * rest;
    set_target(sigma, true);
    find_direction(sigma);
    // One step length for primal and dual; the invariant of the embedding needs it. Newton's whole
    // step, 1, would end the residuals at once, and leave the central path.
    const double length = options_.step * std::min(1.0, longest());
    if (!(length > 1e-10)) return false;
    move(length);
    return true;
  }

  void move(double length) {
    for (std::size_t v = 0; v < signs_.size(); ++v) {
      x_[v] += length * step_.x[v];
      if (is_free_[v] != 0) continue;
      slack_.sign[v] += length * change_.sign[v];
      dual_.sign[v] += length * step_.sign[v];
    }
    for (std::size_t r = 0; r < program_.rows(); ++r) {
      slack_.row[r] += length * change_.row[r];
      dual_.row[r] += length * step_.row[r];
    }
    tau_ += length * dtau_;
    kappa_ += length * dkappa_;
  }

  // Back from the embedding (over tau) and from the scaled variables.
  void write(LinearSolution& solution) const {
    solution.status = SolveStatus::kOptimal;
    solution.cost = cost_ / tau_;
    solution.gap = gap_;
    for (std::size_t v = 0; v < x_.size(); ++v) {
      solution.x.push_back(x_[v] / (tau_ * scale_.columns[v]));
    }
    for (std::size_t r = 0; r < program_.rows(); ++r) {
      solution.duals.push_back(dual_.row[r] / (tau_ * scale_.rows[r]));
      solution.slack.push_back(slack_.row[r] * scale_.rows[r] / tau_);
    }
  }

  std::vector<char> is_free_;
  Equilibration scale_;
  LinearProgram program_;
  std::vector<double> signs_;
  KktSystem kkt_;
  HomogeneousOptions options_;
  double weight_ = 0;  // of all products
  std::vector<double> sign_copies_;
  std::vector<double> x_;
  Positive slack_;
  Positive dual_;
  double tau_ = 1;
  double kappa_ = 1;
  double mu_ = 0;
  double gap_ = 0;
  double cost_ = 0;
  KktVector residual_;
  double residual_gap_ = 0;
  Positive weights_;
  KktVector right_;
  KktVector by_tau_;  // the direction for a change of tau
  double along_tau_ = 0;
  Positive target_;
  double target_tau_ = 0;
  KktVector step_;   // of x and of the dual variables
  Positive change_;  // of the slacks
  double dtau_ = 0;
  double dkappa_ = 0;
};

}  // namespace

LinearSolution solve_homogeneous(const LinearProgram& program, const HomogeneousOptions& options) {
  if (!program.linear() || program.variables() == 0) return {};
  return Homogeneous(program, options).solve();
}

}  // namespace muster
