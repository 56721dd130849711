#include "solve/embedding.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "solve/step_equations.h"

namespace muster {
namespace {

class Embedding {
 public:
  Embedding(const LinearProgram& program, Equations equations)
      : stated_(program, equations == Equations::kWhole),
        program_(stated_.program),
        equations_(equations == Equations::kWhole ? whole_equations(stated_)
                                                  : grouped_equations(stated_)),
        n_(program.variables()),
        m_(program.rows()),
        cones_(program.cones.size()),
        scales_(equations == Equations::kWhole) {}

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

  double copies(std::size_t v) const { return stated_.copies(v); }
  double row_copies(std::size_t r) const { return stated_.row_copies(r); }
  double sign(std::size_t v) const { return stated_.sign(v); }
  bool is_free(std::size_t v) const { return stated_.is_free(v); }
  bool in_cone(std::size_t r) const { return stated_.in_cone[r] != 0; }

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
  // Calls with the first row and the scaling of each cone.
  template <typename Visit>
  void each_cone(const Visit& visit) const {
    for (std::size_t k = 0; k < cones_.size(); ++k) visit(program_.cones[k], cones_[k]);
  }

  // What is missing is solved for again, as long as that helps.
  void solve_step(const Part& right, Part& step) {
    constexpr int kRefinements = 9;
    const double exact = equations_->exactness();
    constexpr double kWorthIt = 6;
    equations_->solve(right, step);
    double before = 0;
    for (int i = 0; i <= kRefinements; ++i) {
      left_ = right;
      equations_->subtract_product(step, left_);
      const double now = largest(left_);
      if (i > 0 && !(now <= before)) {
        step.add(-1, more_);
        return;
      }
      if (now < exact * (1 + largest(right)) || (i > 0 && before < kWorthIt * now)) return;
      if (i == kRefinements) return;
      before = now;
      equations_->solve(left_, more_);
      step.add(1, more_);
    }
  }

  // Signs of free variables are zero.
  static double largest(const Part& part) {
    return std::max({largest(part.x), largest(part.sign), largest(part.row), largest(part.helper)});
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
    const auto& wide = equations_->wide();
    if (!std::all_of(wide.begin(), wide.end(), [&](std::size_t v) { return is_free(v); })) {
      return false;
    }
    w_ = {{}, std::vector<double>(n_, 1.0), std::vector<double>(m_, 1.0)};
    weight_ = 1;
    for (std::size_t v = 0; v < n_; ++v) weight_ += is_free(v) ? 0 : copies(v);
    for (std::size_t r = 0; r < m_; ++r) weight_ += in_cone(r) ? 0 : row_copies(r);
    weight_ += static_cast<double>(cones_.size());
    if (!equations_->factor(w_, cones_)) return false;
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
      if (!in_cone(r) && part.row[r] <= 0) lift = std::max(lift, -part.row[r]);
    }
    each_cone([&](std::size_t r, const ConeScaling&) {
      const double b = part.row[r + 1];
      const double c = part.row[r + 2];
      const double inside = part.row[r] - std::sqrt(b * b + c * c);
      if (inside <= 0) lift = std::max(lift, -inside);
    });
    Part moved{{}, part.sign, part.row};
    for (std::size_t v = 0; v < n_; ++v) moved.sign[v] = is_free(v) ? 0 : moved.sign[v] + 1 + lift;
    for (std::size_t r = 0; r < m_; ++r) moved.row[r] += in_cone(r) ? 0 : 1 + lift;
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
    stated_.rows.add(here.x, rest_.row);
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

  // W, which takes slacks and prices to the same point, and its square. False outside of a cone.
  bool find_scaling() {
    w_.sign.assign(n_, 0.0);
    w_.row.resize(m_);
    for (std::size_t v = 0; v < n_; ++v) {
      if (!is_free(v)) w_.sign[v] = divide_safely(now_.slack.sign[v], now_.at.sign[v]);
    }
    for (std::size_t r = 0; r < m_; ++r) {
      w_.row[r] = divide_safely(now_.slack.row[r], now_.at.row[r]);
    }
    for (std::size_t k = 0; k < cones_.size(); ++k) {
      const Triple slack = triple_at(now_.slack.row, program_.cones[k]);
      const Triple price = triple_at(now_.at.row, program_.cones[k]);
      if (!(cone_square(slack) > 0) || !(cone_square(price) > 0)) return false;
      cones_[k] = {slack, price};
    }
    root_ = w_;
    for (double& value : root_.sign) value = std::sqrt(value);
    for (double& value : root_.row) value = std::sqrt(value);
    scale(now_.at, common_);
    return true;
  }
  // W part.
  void scale(const Part& part, Part& to) const {
    to.sign.resize(n_);
    to.row.resize(m_);
    for (std::size_t v = 0; v < n_; ++v) to.sign[v] = root_.sign[v] * part.sign[v];
    for (std::size_t r = 0; r < m_; ++r) to.row[r] = root_.row[r] * part.row[r];
    each_cone([&](std::size_t r, const ConeScaling& w) {
      put_triple(w.times(triple_at(part.row, r)), to.row, r);
    });
  }

  // The longest step along scaled slacks and prices, tau and kappa.
  double longest(const Part& slack, const Part& price, double tau, double kappa) const {
    double least = 0;
    for (std::size_t v = 0; v < n_; ++v) {
      if (is_free(v)) continue;
      least = std::min({least, slack.sign[v] / common_.sign[v], price.sign[v] / common_.sign[v]});
    }
    for (std::size_t r = 0; r < m_; ++r) {
      if (in_cone(r)) continue;
      least = std::min({least, slack.row[r] / common_.row[r], price.row[r] / common_.row[r]});
    }
    double most = least < 0 ? 1 / -least : kLongest;
    if (tau < 0) most = std::min(most, -now_.tau / tau);
    if (kappa < 0) most = std::min(most, -now_.kappa / kappa);
    each_cone([&](std::size_t r, const ConeScaling&) {
      const Triple here = triple_at(common_.row, r);
      most = std::min({most, cone_step(here, triple_at(slack.row, r)),
                       cone_step(here, triple_at(price.row, r))});
    });
    return std::clamp(most, kShortest, kLongest);
  }

  // What the slacks and prices, scaled, are to become: the product of the common point with itself
  // and of the predicted changes, less the target, divided by the point.
  void find_aim(const Part& slack, const Part& price, double target, Part& aim) const {
    const auto part = [target](double here, double of_slack, double of_price) {
      return divide_safely(here * here + (of_slack * of_price - target), here);
    };
    aim = {{}, std::vector<double>(n_, 0.0), std::vector<double>(m_)};
    for (std::size_t v = 0; v < n_; ++v) {
      if (!is_free(v)) aim.sign[v] = part(common_.sign[v], slack.sign[v], price.sign[v]);
    }
    for (std::size_t r = 0; r < m_; ++r) {
      if (!in_cone(r)) aim.row[r] = part(common_.row[r], slack.row[r], price.row[r]);
    }
    each_cone([&](std::size_t r, const ConeScaling&) {
      const Triple here = triple_at(common_.row, r);
      Triple wanted = cone_product(here, here);
      const Triple second = cone_product(triple_at(slack.row, r), triple_at(price.row, r));
      wanted[0] += second[0] - target;
      for (std::size_t i = 1; i < 3; ++i) wanted[i] += second[i];
      put_triple(cone_quotient(here, wanted), aim.row, r);
    });
  }
  // The change of scaled slacks that goes with one of scaled prices.
  static void answer_prices(const Part& aim, const Part& price, Part& slack) {
    slack.sign.resize(aim.sign.size());
    slack.row.resize(aim.row.size());
    for (std::size_t i = 0; i < aim.sign.size(); ++i)
      slack.sign[i] = -(aim.sign[i] + price.sign[i]);
    for (std::size_t i = 0; i < aim.row.size(); ++i) slack.row[i] = -(aim.row[i] + price.row[i]);
  }

  // What both ways of stepping have in common: where prices and tau go.
  struct Direction {
    Part right;
    Part along;  // per unit of tau
    Part price;
    double unit = 0;
    double tau = 0;
  };
  Direction predict() {
    Direction to;
    to.right = {std::vector<double>(n_), std::vector<double>(n_, 0.0), program_.bounds};
    for (std::size_t v = 0; v < n_; ++v) to.right.x[v] = -program_.costs[v];
    solve_step(to.right, to.along);
    to.right = rest_;
    for (std::size_t v = 0; v < n_; ++v) to.right.sign[v] = now_.slack.sign[v] - rest_.sign[v];
    for (std::size_t r = 0; r < m_; ++r) to.right.row[r] = now_.slack.row[r] - rest_.row[r];
    solve_step(to.right, to.price);
    to.unit = now_.kappa / now_.tau - cost_of(to.along.x) - bound_of(to.along.row);
    to.tau = (rest_tau_ - now_.kappa + cost_of(to.price.x) + bound_of(to.price.row)) / to.unit;
    to.price.add(to.tau, to.along);
    return to;
  }
  // How much of the way the corrector goes to the middle, by how far the predictor came.
  static double centring(double length) {
    const double short_of = 1 - length;
    return std::clamp(short_of * short_of * short_of, 1e-4, 1.0);
  }
  void correct(const Part& aim, double aim_kappa, double sigma, Direction& to) {
    for (std::size_t v = 0; v < n_; ++v) {
      to.right.x[v] = (1 - sigma) * rest_.x[v];
      to.right.sign[v] = aim.sign[v] - (1 - sigma) * rest_.sign[v];
    }
    for (std::size_t r = 0; r < m_; ++r) to.right.row[r] = aim.row[r] - (1 - sigma) * rest_.row[r];
    solve_step(to.right, to.price);
    to.tau = ((1 - sigma) * rest_tau_ - aim_kappa / now_.tau + cost_of(to.price.x) +
              bound_of(to.price.row)) /
             to.unit;
    to.price.add(to.tau, to.along);
  }
  bool advance(const Direction& to, const Part& slack, double kappa) {
    if (!std::isfinite(to.tau) || !std::isfinite(kappa)) return false;
    now_.at.add(length_, to.price);
    now_.slack.add(length_, slack);
    now_.tau += length_ * to.tau;
    now_.kappa += length_ * kappa;
    return true;
  }

  // Mehrotra's predictor and corrector, with slacks and prices scaled to their common point.
  bool scaled_step() {
    if (!find_scaling() || !equations_->factor(w_, cones_)) return false;
    Direction direction = predict();
    const Part& price = direction.price;
    const double& tau = direction.tau;
    Part scaled_price;
    Part scaled_slack;
    scale(price, scaled_price);
    answer_prices(common_, scaled_price, scaled_slack);
    double kappa = -now_.kappa - now_.kappa / now_.tau * tau;
    const double sigma = centring(longest(scaled_slack, scaled_price, tau, kappa));
    const double target = sigma * measure_.mu;
    Part aim;
    find_aim(scaled_slack, scaled_price, target, aim);
    Part aim_slack;
    scale(aim, aim_slack);
    const double aim_kappa = now_.kappa * now_.tau + kappa * tau - target;
    correct(aim_slack, aim_kappa, sigma, direction);
    scale(price, scaled_price);
    answer_prices(aim, scaled_price, scaled_slack);
    kappa = -(aim_kappa + now_.kappa * tau) / now_.tau;
    length_ = kInside * longest(scaled_slack, scaled_price, tau, kappa);
    Part slack;
    scale(scaled_slack, slack);
    return advance(direction, slack, kappa);
  }

  // The longest step along slacks and prices, tau and kappa.
  double longest_plain(const Part& slack, const Part& price, double tau, double kappa) const {
    double least = 0;
    for (std::size_t v = 0; v < n_; ++v) {
      if (is_free(v)) continue;
      least =
          std::min({least, slack.sign[v] / now_.slack.sign[v], price.sign[v] / now_.at.sign[v]});
    }
    for (std::size_t r = 0; r < m_; ++r) {
      if (in_cone(r)) continue;
      least = std::min({least, slack.row[r] / now_.slack.row[r], price.row[r] / now_.at.row[r]});
    }
    least = std::min({least, tau / now_.tau, kappa / now_.kappa});
    double most = least < 0 ? -1 / least : kLongest;
    each_cone([&](std::size_t r, const ConeScaling&) {
      most = std::min({most, cone_step(triple_at(now_.slack.row, r), triple_at(slack.row, r)),
                       cone_step(triple_at(now_.at.row, r), triple_at(price.row, r))});
    });
    return std::clamp(most, kShortest, kLongest);
  }

  // The same with slacks and prices as they are, which loses fewer digits.
  bool plain_step() {
    const auto divide = [](const std::vector<double>& a, const std::vector<double>& b,
                           std::vector<double>& to) {
      to.resize(a.size());
      for (std::size_t i = 0; i < a.size(); ++i) to[i] = a[i] / b[i];
    };
    divide(now_.slack.sign, now_.at.sign, w_.sign);
    divide(now_.slack.row, now_.at.row, w_.row);
    for (std::size_t k = 0; k < cones_.size(); ++k) {
      const std::size_t r = program_.cones[k];
      cones_[k] = {triple_at(now_.slack.row, r), triple_at(now_.at.row, r)};
    }
    if (!equations_->factor(w_, cones_)) return false;
    Direction direction = predict();
    const Part& price = direction.price;
    const double& tau = direction.tau;
    Part slack{{}, std::vector<double>(n_, 0.0), std::vector<double>(m_)};
    for (std::size_t v = 0; v < n_; ++v) {
      if (!is_free(v)) slack.sign[v] = -w_.sign[v] * price.sign[v] - now_.slack.sign[v];
    }
    for (std::size_t r = 0; r < m_; ++r) {
      slack.row[r] = -w_.row[r] * price.row[r] - now_.slack.row[r];
    }
    each_cone([&](std::size_t r, const ConeScaling& w) {
      const Triple far = w.times(w.times(triple_at(price.row, r)));
      for (std::size_t i = 0; i < 3; ++i) slack.row[r + i] = -far[i] - now_.slack.row[r + i];
    });
    double kappa = -now_.kappa - now_.kappa / now_.tau * tau;
    const double sigma = centring(longest_plain(slack, price, tau, kappa));
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
      const Triple common = w.times(triple_at(now_.at.row, r));
      Triple wanted = cone_product(common, common);
      const Triple second =
          cone_product(w.over(triple_at(slack.row, r)), w.times(triple_at(price.row, r)));
      for (std::size_t i = 0; i < 3; ++i) wanted[i] += second[i];
      wanted[0] -= target;
      put_triple(w.times(cone_quotient(common, wanted)), aim.row, r);
    });
    const double aim_kappa = now_.kappa * now_.tau + kappa * tau - target;
    correct(aim, aim_kappa, sigma, direction);
    for (std::size_t v = 0; v < n_; ++v) {
      if (!is_free(v)) slack.sign[v] = -aim.sign[v] - w_.sign[v] * price.sign[v];
    }
    for (std::size_t r = 0; r < m_; ++r) slack.row[r] = -aim.row[r] - w_.row[r] * price.row[r];
    each_cone([&](std::size_t r, const ConeScaling& w) {
      const Triple far = w.times(w.times(triple_at(price.row, r)));
      for (std::size_t i = 0; i < 3; ++i) slack.row[r + i] = -aim.row[r + i] - far[i];
    });
    kappa = -(aim_kappa + now_.kappa * tau) / now_.tau;
    length_ = kInside * longest_plain(slack, price, tau, kappa);
    return advance(direction, slack, kappa);
  }

  bool step() { return scales_ ? scaled_step() : plain_step(); }

  LinearSolution answer(SolveStatus status) const {
    LinearSolution solution;
    solution.status = status;
    solution.iterations = iterations_;
    solution.gap = measure_.gap;
    for (std::size_t v = 0; v < n_; ++v) {
      solution.x.push_back(now_.at.x[v] / (stated_.balance.columns[v] * now_.tau));
    }
    for (std::size_t r = 0; r < m_; ++r) {
      solution.prices.push_back(row_copies(r) * now_.at.row[r] /
                                (stated_.balance.rows[r] * now_.tau));
      solution.slack.push_back(now_.slack.row[r] * stated_.balance.rows[r] / now_.tau);
    }
    solution.cost = now_.cost / now_.tau;
    return solution;
  }

  Stated stated_;
  const LinearProgram& program_;
  std::unique_ptr<StepEquations> equations_;
  std::size_t n_;
  std::size_t m_;
  std::vector<ConeScaling> cones_;
  bool scales_;  // as ECOS does
  Part w_;       // squares of the scaling
  Part root_;    // the scaling itself
  Part common_;  // where it takes slacks and prices
  Part left_;    // scratch, as are the next ones
  Part more_;
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

LinearSolution solve_embedded(const LinearProgram& program, Equations equations) {
  return Embedding(program, equations).solve();
}

}  // namespace muster
