#include "solve/embedding.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "solve/balance.h"
#include "solve/cone.h"
#include "solve/normal_system.h"
#include "solve/row_products.h"

namespace muster {
namespace {

// By variables, by signs of variables, by rows.
struct Part {
  std::vector<double> x;
  std::vector<double> sign;
  std::vector<double> row;

  void add(double factor, const Part& other) {
    add(factor, other.x, x);
    add(factor, other.sign, sign);
    add(factor, other.row, row);
  }
  static void add(double factor, const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
  }
};

class Embedding {
 public:
  explicit Embedding(const LinearProgram& program)
      : free_(free_variables(program)),
        balance_(balance_of(program, free_)),
        program_(balanced(spread(program), balance_)),
        scaled_(program_),
        system_(scaled_),
        rows_(program_),
        scaled_rows_(program_),
        n_(program.variables()),
        m_(program.rows()),
        in_cone_(m_, 0),
        cones_(program.cones.size()) {
    for (const std::size_t r : program.cones) in_cone_[r] = in_cone_[r + 1] = in_cone_[r + 2] = 1;
    // Small groups are factored by reflections, which bear any numbers.
    constexpr std::size_t kSmall = 8;
    std::vector<std::size_t> rows_of_group(m_, 0);
    for (const std::int32_t group : program.groups) {
      if (group == LinearProgram::kLinking) continue;
      if (++rows_of_group[static_cast<std::size_t>(group)] > kSmall) little_ = kLittle;
    }
    for (std::size_t v = 0; v < n_; ++v) {
      signs_.push_back(1 / (balance_.signs[v] * balance_.columns[v]));
    }
    is_wide_.assign(n_, 0);
    for (const std::size_t v : system_.wide()) is_wide_[v] = 1;
  }

  LinearSolution solve() {
    if (!start()) return {};
    SolveStatus status = SolveStatus::kFailed;
    for (int i = 0; i <= kMostSteps; ++i) {
      const double before = measure_.primal;
      measure();
      iterations_ = i;
      // A direction that made things much worse: what was best has to do.
      constexpr double kWorse = 500;
      if (i > 0 && (!(measure_.primal <= kWorse * before) || measure_.gap < 0)) {
        restore();
        status = judge(kRough);
        break;
      }
      status = judge(kFine);
      if (status != SolveStatus::kFailed) break;
      if (i == kMostSteps || (i > 0 && length_ <= kShortest * kInside)) {
        if (i < kMostSteps || !better()) restore();
        status = judge(kRough);
        break;
      }
      if (i == 0 || better()) keep();
      if (!step()) {
        restore();
        status = judge(kRough);
        break;
      }
    }
    return answer(status);
  }

 private:
  static constexpr int kMostSteps = 100;
  static constexpr double kShortest = 1e-6;
  static constexpr double kLongest = 0.999;
  static constexpr double kInside = 0.99;
  static constexpr double kLittle = 7e-8;
  struct Exactness {
    double feasible;
    double gap;
    double relative;
  };
  static constexpr Exactness kFine = {1e-8, 1e-8, 1e-8};
  static constexpr Exactness kRough = {1e-4, 5e-5, 5e-5};
  struct Measure {
    double primal = 0;
    double dual = 0;
    double gap = 0;
    double relative = 0;
    double mu = 0;
    double infeasible = 0;  // how near a proof that there is no answer; NaN: no such proof
    double unbounded = 0;
    double ratio = 0;  // kappa / tau
  };
  struct Iterate {
    Part at;  // x; prices of signs and rows
    Part slack;
    double tau = 1;
    double kappa = 1;
    double cost = 0;
    double bound = 0;
    Measure measure;
  };

  double copies(std::size_t v) const { return program_.variable_copies[v]; }
  double row_copies(std::size_t r) const { return program_.row_copies[r]; }
  // The entry of a variable in the row of its sign is minus this.
  double sign(std::size_t v) const { return signs_[v]; }
  bool is_free(std::size_t v) const { return free_[v] != 0; }

  double norm_x(const std::vector<double>& values) const {
    double sum = 0;
    for (std::size_t v = 0; v < n_; ++v) sum += copies(v) * values[v] * values[v];
    return std::sqrt(sum);
  }
  double norm_rows(const Part& part) const {
    double sum = 0;
    for (std::size_t v = 0; v < n_; ++v) {
      if (!is_free(v)) sum += copies(v) * part.sign[v] * part.sign[v];
    }
    for (std::size_t r = 0; r < m_; ++r) sum += row_copies(r) * part.row[r] * part.row[r];
    return std::sqrt(sum);
  }
  double cost_of(const std::vector<double>& x) const {
    double sum = 0;
    for (std::size_t v = 0; v < n_; ++v) sum += copies(v) * program_.costs[v] * x[v];
    return sum;
  }
  double bound_of(const std::vector<double>& prices) const {
    double sum = 0;
    for (std::size_t r = 0; r < m_; ++r) sum += row_copies(r) * program_.bounds[r] * prices[r];
    return sum;
  }
  static double dot_column(const LinearProgram& program, std::size_t variable,
                           const std::vector<double>& rows) {
    double sum = 0;
    for (std::size_t t = program.first_term(variable); t < program.last_term(variable); ++t) {
      sum += program.terms[t].value * rows[program.terms[t].row];
    }
    return sum;
  }
  static Triple at(const std::vector<double>& rows, std::size_t r) {
    return {rows[r], rows[r + 1], rows[r + 2]};
  }
  static void put(const Triple& triple, std::vector<double>& rows, std::size_t r) {
    std::copy(triple.begin(), triple.end(), rows.begin() + static_cast<std::ptrdiff_t>(r));
  }
  // Calls with the first row and the scaling of each cone.
  template <typename Visit>
  void each_cone(const Visit& visit) const {
    for (std::size_t k = 0; k < cones_.size(); ++k) visit(program_.cones[k], cones_[k]);
  }

  // Squares of the scaling, slack / price, are in w_. Rows of cones are scaled themselves, which
  // leaves a scaling of one. A little is added where the factors would suffer from numbers too
  // large or too small; solve_step makes up for it.
  bool factor() {
    d_.resize(n_);
    f_.resize(m_);
    for (std::size_t v = 0; v < n_; ++v) {
      const double held = is_free(v) ? 0 : sign(v) * sign(v) / (w_.sign[v] + little_);
      const bool loose = is_free(v) && is_wide_[v] == 0;
      d_[v] = 1 / (copies(v) * (held + (loose ? kLittle : little_)));
    }
    for (std::size_t r = 0; r < m_; ++r) {
      f_[r] = ((in_cone_[r] != 0 ? 1 : w_.row[r]) + little_) / row_copies(r);
    }
    if (!cones_.empty()) scale_terms();
    return system_.factor(d_, f_);
  }
  void scale_terms() {
    std::vector<std::size_t> number(m_, cones_.size());
    for (std::size_t k = 0; k < cones_.size(); ++k) number[program_.cones[k]] = k;
    for (std::size_t t = 0; t < program_.terms.size(); ++t) {
      const std::size_t k = number[program_.terms[t].row];
      if (k == cones_.size()) continue;
      const Triple scaled = cones_[k].over(
          {program_.terms[t].value, program_.terms[t + 1].value, program_.terms[t + 2].value});
      for (std::size_t i = 0; i < 3; ++i) {
        scaled_.terms[t + i].value = scaled[i];
        scaled_rows_.set_value(t + i, scaled[i]);
      }
    }
  }

  // The step (x, prices) with G' prices = right.x and G x - W^2 prices = right of signs and rows,
  // where G are the rows of the signs and those of the program. What is missing is solved for
  // again, as long as that helps.
  void solve_step(const Part& right, Part& step) {
    constexpr int kRefinements = 9;
    constexpr double kExact = 1e-14;
    constexpr double kWorthIt = 6;
    solve_once(right, step);
    double before = 0;
    for (int i = 0; i <= kRefinements; ++i) {
      left_ = right;
      subtract_product(step, left_);
      const double now = largest(left_);
      if (i > 0 && !(now <= before)) {
        step.add(-1, more_);
        return;
      }
      if (now < kExact * (1 + largest(right)) || (i > 0 && before < kWorthIt * now)) return;
      if (i == kRefinements) return;
      before = now;
      solve_once(left_, more_);
      step.add(1, more_);
    }
  }

  void solve_once(const Part& right, Part& step) {
    toward_.assign(n_, 0.0);
    spread_.assign(n_, 0.0);
    for (std::size_t v = 0; v < n_; ++v) {
      toward_[v] = right.x[v] * copies(v);
      if (!is_free(v)) {
        toward_[v] -= copies(v) * sign(v) * right.sign[v] / (w_.sign[v] + little_);
      }
      if (is_wide_[v] == 0) spread_[v] = d_[v] * toward_[v];
    }
    std::vector<double>& wide = wide_;
    wide.clear();
    for (const std::size_t v : system_.wide()) wide.push_back(toward_[v]);
    prices_ = right.row;
    each_cone(
        [&](std::size_t r, const ConeScaling& w) { put(w.over(at(prices_, r)), prices_, r); });
    for (double& price : prices_) price = -price;
    scaled_rows_.add(spread_, prices_);
    system_.solve_in_place(prices_, wide);
    step.x.assign(n_, 0.0);
    step.sign.assign(n_, 0.0);
    step.row.resize(m_);
    for (std::size_t v = 0; v < n_; ++v) {
      if (is_wide_[v] != 0) continue;
      step.x[v] = d_[v] * (toward_[v] - dot_column(scaled_, v, prices_));
      if (is_free(v)) continue;
      step.sign[v] = (-sign(v) * step.x[v] - right.sign[v]) / (w_.sign[v] + little_);
    }
    for (std::size_t k = 0; k < wide.size(); ++k) step.x[system_.wide()[k]] = -wide[k];
    for (std::size_t r = 0; r < m_; ++r) step.row[r] = prices_[r] / row_copies(r);
    each_cone(
        [&](std::size_t r, const ConeScaling& w) { put(w.over(at(step.row, r)), step.row, r); });
  }

  // left -= the left side of the equations.
  void subtract_product(const Part& step, Part& left) {
    std::vector<double>& weighted = prices_;
    weighted.resize(m_);
    for (std::size_t r = 0; r < m_; ++r) weighted[r] = row_copies(r) * step.row[r];
    spread_.assign(m_, 0.0);
    rows_.add(step.x, spread_);
    for (std::size_t v = 0; v < n_; ++v) {
      left.x[v] -= dot_column(program_, v, weighted) / copies(v);
      if (is_free(v)) continue;
      left.x[v] += sign(v) * step.sign[v];
      left.sign[v] += sign(v) * step.x[v] + w_.sign[v] * step.sign[v];
    }
    for (std::size_t r = 0; r < m_; ++r) {
      left.row[r] -= spread_[r] - (in_cone_[r] != 0 ? 0 : w_.row[r] * step.row[r]);
    }
    each_cone([&](std::size_t r, const ConeScaling& w) {
      const Triple far = w.times(w.times(at(step.row, r)));
      for (std::size_t i = 0; i < 3; ++i) left.row[r + i] += far[i];
    });
  }
  // Signs of free variables are zero.
  static double largest(const Part& part) {
    return std::max({largest(part.x), largest(part.sign), largest(part.row)});
  }
  // Four at a time, as comparisons that wait for each other would take longer.
  static double largest(const std::vector<double>& values) {
    std::array<double, 4> most{};
    std::size_t i = 0;
    for (; i + 4 <= values.size(); i += 4) {
      for (std::size_t k = 0; k < 4; ++k) most[k] = std::max(most[k], std::abs(values[i + k]));
    }
    for (; i < values.size(); ++i) most[0] = std::max(most[0], std::abs(values[i]));
    return std::max({most[0], most[1], most[2], most[3]});
  }

  // From the least squares of slacks and of prices, moved inside.
  bool start() {
    const auto& wide = system_.wide();
    if (!std::all_of(wide.begin(), wide.end(), [&](std::size_t v) { return is_free(v); })) {
      return false;
    }
    w_ = {{}, std::vector<double>(n_, 1.0), std::vector<double>(m_, 1.0)};
    weight_ = 1;
    for (std::size_t v = 0; v < n_; ++v) weight_ += is_free(v) ? 0 : copies(v);
    for (std::size_t r = 0; r < m_; ++r) weight_ += in_cone_[r] != 0 ? 0 : row_copies(r);
    weight_ += static_cast<double>(cones_.size());
    if (!factor()) return false;
    Part right{std::vector<double>(n_, 0.0), std::vector<double>(n_, 0.0), program_.bounds};
    Part step;
    solve_step(right, step);
    now_.at.x = step.x;
    for (double& value : step.sign) value = -value;
    for (double& value : step.row) value = -value;
    now_.slack = inside(step);
    for (std::size_t v = 0; v < n_; ++v) right.x[v] = -program_.costs[v];
    std::fill(right.row.begin(), right.row.end(), 0.0);
    solve_step(right, step);
    const Part prices = inside(step);
    now_.at.sign = prices.sign;
    now_.at.row = prices.row;
    cost_scale_ = std::max(1.0, norm_x(program_.costs));
    bound_scale_ = std::max(1.0, norm_rows({{}, std::vector<double>(n_, 0.0), program_.bounds}));
    return true;
  }
  Part inside(const Part& part) const {
    double lift = -kInside;
    for (std::size_t v = 0; v < n_; ++v) {
      if (!is_free(v) && part.sign[v] <= 0) lift = std::max(lift, -part.sign[v]);
    }
    for (std::size_t r = 0; r < m_; ++r) {
      if (in_cone_[r] == 0 && part.row[r] <= 0) lift = std::max(lift, -part.row[r]);
    }
    each_cone([&](std::size_t r, const ConeScaling&) {
      const double inside = part.row[r] - std::hypot(part.row[r + 1], part.row[r + 2]);
      if (inside <= 0) lift = std::max(lift, -inside);
    });
    Part moved{{}, part.sign, part.row};
    for (std::size_t v = 0; v < n_; ++v) moved.sign[v] = is_free(v) ? 0 : moved.sign[v] + 1 + lift;
    for (std::size_t r = 0; r < m_; ++r) moved.row[r] += in_cone_[r] != 0 ? 0 : 1 + lift;
    each_cone([&](std::size_t r, const ConeScaling&) { moved.row[r] += 1 + lift; });
    return moved;
  }

  void measure() {
    const Part& here = now_.at;
    rest_.x.resize(n_);
    rest_.sign.assign(n_, 0.0);
    rest_.row.assign(m_, 0.0);
    std::vector<double> weighted(m_);
    for (std::size_t r = 0; r < m_; ++r) weighted[r] = row_copies(r) * here.row[r];
    double gap = 0;
    for (std::size_t v = 0; v < n_; ++v) {
      rest_.x[v] = -dot_column(program_, v, weighted) / copies(v);
      if (is_free(v)) continue;
      rest_.x[v] += sign(v) * here.sign[v];
      rest_.sign[v] = now_.slack.sign[v] - sign(v) * here.x[v];
      gap += copies(v) * now_.slack.sign[v] * here.sign[v];
    }
    const double dual_alone = norm_x(rest_.x);
    for (std::size_t v = 0; v < n_; ++v) rest_.x[v] -= program_.costs[v] * now_.tau;
    rows_.add(here.x, rest_.row);
    for (std::size_t r = 0; r < m_; ++r) {
      rest_.row[r] += now_.slack.row[r];
      gap += row_copies(r) * now_.slack.row[r] * here.row[r];
    }
    const double primal_alone = norm_rows(rest_);
    for (std::size_t r = 0; r < m_; ++r) rest_.row[r] -= program_.bounds[r] * now_.tau;
    now_.cost = cost_of(here.x);
    now_.bound = bound_of(here.row);
    rest_tau_ = now_.kappa + now_.cost + now_.bound;
    const double size_x = norm_x(here.x);
    const double size_slack = norm_rows(now_.slack);
    const double size_prices = norm_rows(here);
    measure_.gap = gap;
    measure_.mu = (gap + now_.kappa * now_.tau) / weight_;
    measure_.ratio = now_.kappa / now_.tau;
    const double cost = now_.cost / now_.tau;
    const double bound = -now_.bound / now_.tau;
    measure_.relative = cost < 0 ? gap / -cost : bound > 0 ? gap / bound : HUGE_VAL;
    measure_.primal =
        norm_rows(rest_) / std::max(bound_scale_ + size_x + size_slack, 1.0) / now_.tau;
    measure_.dual = norm_x(rest_.x) / std::max(cost_scale_ + size_prices, 1.0) / now_.tau;
    const double most_prices = std::max(size_prices, 1.0);
    const double most_x = std::max(size_x, 1.0);
    measure_.infeasible =
        now_.bound / most_prices < -kFine.relative ? dual_alone / most_prices : HUGE_VAL;
    measure_.unbounded = now_.cost / most_x < -kFine.relative
                             ? primal_alone / std::max(size_x + size_slack, 1.0)
                             : HUGE_VAL;
  }

  SolveStatus judge(const Exactness& exact) const {
    const bool sides = -now_.cost > 0 || -now_.bound >= -exact.gap;
    if (sides && measure_.primal < exact.feasible && measure_.dual < exact.feasible &&
        (measure_.gap < exact.gap || measure_.relative < exact.relative)) {
      return SolveStatus::kOptimal;
    }
    if (measure_.unbounded < exact.feasible) return SolveStatus::kUnbounded;
    if (measure_.infeasible < exact.feasible) return SolveStatus::kInfeasible;
    return SolveStatus::kFailed;
  }

  bool better() const {
    const Measure& best = best_.measure;
    if (measure_.infeasible != HUGE_VAL && measure_.ratio > 1) {
      return measure_.gap < best.gap && measure_.mu < best.mu &&
             (best.infeasible == HUGE_VAL || measure_.infeasible < best.primal);
    }
    return measure_.gap < best.gap && measure_.primal < best.primal && measure_.dual < best.dual &&
           measure_.ratio < best.ratio && measure_.mu < best.mu;
  }
  void keep() {
    now_.measure = measure_;
    best_ = now_;
  }
  void restore() {
    now_ = best_;
    measure_ = now_.measure;
  }

  // The longest step along slacks and prices, tau and kappa.
  double longest(const Part& slack, const Part& price, double tau, double kappa) const {
    double least = 0;
    for (std::size_t v = 0; v < n_; ++v) {
      if (is_free(v)) continue;
      least =
          std::min({least, slack.sign[v] / now_.slack.sign[v], price.sign[v] / now_.at.sign[v]});
    }
    for (std::size_t r = 0; r < m_; ++r) {
      if (in_cone_[r] != 0) continue;
      least = std::min({least, slack.row[r] / now_.slack.row[r], price.row[r] / now_.at.row[r]});
    }
    least = std::min({least, tau / now_.tau, kappa / now_.kappa});
    double most = least < 0 ? -1 / least : kLongest;
    each_cone([&](std::size_t r, const ConeScaling&) {
      most = std::min({most, cone_step(at(now_.slack.row, r), at(slack.row, r)),
                       cone_step(at(now_.at.row, r), at(price.row, r))});
    });
    return std::clamp(most, kShortest, kLongest);
  }

  // Mehrotra's predictor and corrector.
  bool step() {
    const auto divide = [](const std::vector<double>& a, const std::vector<double>& b,
                           std::vector<double>& to) {
      to.resize(a.size());
      for (std::size_t i = 0; i < a.size(); ++i) to[i] = a[i] / b[i];
    };
    divide(now_.slack.sign, now_.at.sign, w_.sign);
    divide(now_.slack.row, now_.at.row, w_.row);
    for (std::size_t k = 0; k < cones_.size(); ++k) {
      const std::size_t r = program_.cones[k];
      cones_[k] = {at(now_.slack.row, r), at(now_.at.row, r)};
    }
    if (!factor()) return false;
    Part right{std::vector<double>(n_), std::vector<double>(n_, 0.0), program_.bounds};
    for (std::size_t v = 0; v < n_; ++v) right.x[v] = -program_.costs[v];
    Part along;  // per unit of tau
    solve_step(right, along);
    right = rest_;
    for (std::size_t v = 0; v < n_; ++v) right.sign[v] = now_.slack.sign[v] - rest_.sign[v];
    for (std::size_t r = 0; r < m_; ++r) right.row[r] = now_.slack.row[r] - rest_.row[r];
    Part price;
    solve_step(right, price);
    const double unit = now_.kappa / now_.tau - cost_of(along.x) - bound_of(along.row);
    double tau = (rest_tau_ - now_.kappa + cost_of(price.x) + bound_of(price.row)) / unit;
    price.add(tau, along);
    Part slack{{}, std::vector<double>(n_, 0.0), std::vector<double>(m_)};
    for (std::size_t v = 0; v < n_; ++v) {
      if (!is_free(v)) slack.sign[v] = -w_.sign[v] * price.sign[v] - now_.slack.sign[v];
    }
    for (std::size_t r = 0; r < m_; ++r) {
      slack.row[r] = -w_.row[r] * price.row[r] - now_.slack.row[r];
    }
    each_cone([&](std::size_t r, const ConeScaling& w) {
      const Triple far = w.times(w.times(at(price.row, r)));
      for (std::size_t i = 0; i < 3; ++i) slack.row[r + i] = -far[i] - now_.slack.row[r + i];
    });
    double kappa = -now_.kappa - now_.kappa / now_.tau * tau;
    const double short_of = 1 - longest(slack, price, tau, kappa);
    const double sigma = std::clamp(short_of * short_of * short_of, 1e-4, 1.0);
    const double target = sigma * measure_.mu;
    Part aim{{}, std::vector<double>(n_, 0.0), std::vector<double>(m_)};
    for (std::size_t v = 0; v < n_; ++v) {
      if (is_free(v)) continue;
      aim.sign[v] = now_.slack.sign[v] + (slack.sign[v] * price.sign[v] - target) / now_.at.sign[v];
    }
    for (std::size_t r = 0; r < m_; ++r) {
      aim.row[r] = now_.slack.row[r] + (slack.row[r] * price.row[r] - target) / now_.at.row[r];
    }
    each_cone([&](std::size_t r, const ConeScaling& w) {
      const Triple common = w.times(at(now_.at.row, r));
      Triple wanted = cone_product(common, common);
      const Triple second = cone_product(w.over(at(slack.row, r)), w.times(at(price.row, r)));
      for (std::size_t i = 0; i < 3; ++i) wanted[i] += second[i];
      wanted[0] -= target;
      put(w.times(cone_quotient(common, wanted)), aim.row, r);
    });
    for (std::size_t v = 0; v < n_; ++v) {
      right.x[v] = (1 - sigma) * rest_.x[v];
      right.sign[v] = aim.sign[v] - (1 - sigma) * rest_.sign[v];
    }
    for (std::size_t r = 0; r < m_; ++r) right.row[r] = aim.row[r] - (1 - sigma) * rest_.row[r];
    const double aim_kappa = now_.kappa * now_.tau + kappa * tau - target;
    solve_step(right, price);
    tau =
        ((1 - sigma) * rest_tau_ - aim_kappa / now_.tau + cost_of(price.x) + bound_of(price.row)) /
        unit;
    price.add(tau, along);
    for (std::size_t v = 0; v < n_; ++v) {
      if (!is_free(v)) slack.sign[v] = -aim.sign[v] - w_.sign[v] * price.sign[v];
    }
    for (std::size_t r = 0; r < m_; ++r) slack.row[r] = -aim.row[r] - w_.row[r] * price.row[r];
    each_cone([&](std::size_t r, const ConeScaling& w) {
      const Triple far = w.times(w.times(at(price.row, r)));
      for (std::size_t i = 0; i < 3; ++i) slack.row[r + i] = -aim.row[r + i] - far[i];
    });
    kappa = -(aim_kappa + now_.kappa * tau) / now_.tau;
    length_ = kInside * longest(slack, price, tau, kappa);
    if (!std::isfinite(tau) || !std::isfinite(kappa)) return false;
    now_.at.add(length_, price);
    now_.slack.add(length_, slack);
    now_.tau += length_ * tau;
    now_.kappa += length_ * kappa;
    return true;
  }

  LinearSolution answer(SolveStatus status) const {
    LinearSolution solution;
    solution.status = status;
    solution.iterations = iterations_;
    solution.gap = measure_.gap;
    for (std::size_t v = 0; v < n_; ++v) {
      solution.x.push_back(now_.at.x[v] / (balance_.columns[v] * now_.tau));
    }
    for (std::size_t r = 0; r < m_; ++r) {
      solution.prices.push_back(row_copies(r) * now_.at.row[r] / (balance_.rows[r] * now_.tau));
      solution.slack.push_back(now_.slack.row[r] * balance_.rows[r] / now_.tau);
    }
    solution.cost = now_.cost / now_.tau;
    return solution;
  }

  std::vector<char> free_;
  Balance balance_;
  LinearProgram program_;  // balanced; costs of one of each variable's copies
  LinearProgram scaled_;   // the same with the rows of cones scaled
  NormalSystem system_;
  RowProducts rows_;         // of the program
  RowProducts scaled_rows_;  // and of the scaled one
  std::size_t n_;
  std::size_t m_;
  std::vector<char> in_cone_;  // by row
  std::vector<ConeScaling> cones_;
  std::vector<double> signs_;
  std::vector<char> is_wide_;  // by variable: eliminated last
  double little_ = 0;
  Part w_;
  std::vector<double> d_;
  std::vector<double> f_;
  Part left_;  // scratch, as are the next ones
  Part more_;
  std::vector<double> wide_;
  std::vector<double> toward_;
  std::vector<double> spread_;
  std::vector<double> prices_;
  Iterate now_;
  Iterate best_;
  Part rest_;  // what is missing
  double rest_tau_ = 0;
  double weight_ = 0;
  double cost_scale_ = 1;
  double bound_scale_ = 1;
  double length_ = 1;
  int iterations_ = 0;
  Measure measure_;
};

}  // namespace

LinearSolution solve_embedded(const LinearProgram& program) { return Embedding(program).solve(); }

}  // namespace muster
