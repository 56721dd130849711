#include "solve/step_equations.h"
#include "solve/symmetric_factor.h"

namespace muster {
namespace {

class WholeEquations final : public StepEquations {
 public:
  explicit WholeEquations(const Stated& stated)
      : stated_(stated),
        n_(stated.program.variables()),
        m_(stated.program.rows()),
        factor_(entries(), signs()) {}
  const std::vector<std::size_t>& wide() const override { return none_; }

  bool factor(const Part& w, const std::vector<ConeScaling>& cones) override {
    // At the start all scalings are one, and nothing needs to be kept apart from zero.
    if (started_) {
      w_ = w.row;
      for (std::size_t r = 0; r < m_; ++r) {
        if (stated_.in_cone[r] == 0) values_[diagonal_[r]] = -w_[r] - kLittle;
      }
      thin_.clear();
      for (std::size_t k = 0; k < cones.size(); ++k) {
        thin_.push_back(cones[k].thin());
        set_cone(k);
      }
    }
    started_ = true;
    factor_.factor(values_);
    return true;
  }

  void solve(const Part& right, Part& step) override {
    all_.assign(place_.size() + n_ + 2 * stated_.program.cones.size(), 0.0);
    std::copy(right.x.begin(), right.x.end(), all_.begin());
    for (std::size_t r = 0; r < m_; ++r) all_[place_[r]] = right.row[r];
    for (std::size_t i = 0; i < right.helper.size(); ++i) all_[helper_place(i)] = right.helper[i];
    factor_.solve(all_);
    step.x.assign(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(n_));
    step.row.resize(m_);
    for (std::size_t r = 0; r < m_; ++r) step.row[r] = all_[place_[r]];
    step.helper.resize(2 * stated_.program.cones.size());
    for (std::size_t i = 0; i < step.helper.size(); ++i) step.helper[i] = all_[helper_place(i)];
    step.sign.assign(n_, 0.0);
  }

  void subtract_product(const Part& step, Part& left) override {
    const LinearProgram& program = stated_.program;
    for (std::size_t v = 0; v < n_; ++v) {
      left.x[v] -= kLittle * step.x[v];
      for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
        left.x[v] -= program.terms[t].value * step.row[program.terms[t].row];
      }
    }
    spread_.assign(m_, 0.0);
    stated_.rows.add(step.x, spread_);
    // The last row of a cone has the little with the other sign, as in ECOS.
    little_.assign(m_, kLittle);
    for (const std::size_t r : program.cones) little_[r + 2] = -kLittle;
    for (std::size_t r = 0; r < m_; ++r) {
      left.row[r] = left.row[r] - spread_[r] + little_[r] * step.row[r];
    }
    left.helper.assign(step.helper.size(), 0.0);
    for (std::size_t r = 0; r < m_; ++r) {
      if (thin_.empty() || stated_.in_cone[r] == 0) left.row[r] += weight(r) * step.row[r];
    }
    for (std::size_t k = 0; k < thin_.size(); ++k) add_cone(k, step, left);
  }

 private:
  double weight(std::size_t r) const { return w_.empty() ? 1 : w_[r]; }
  std::size_t helper_place(std::size_t i) const {
    return place_[stated_.program.cones[i / 2] + 2] + 1 + i % 2;
  }

  // The square of a cone's scaling, with its two helpers.
  void set_cone(std::size_t k) {
    const ConeScaling::Thin& thin = thin_[k];
    const std::size_t r = stated_.program.cones[k];
    values_[diagonal_[r]] = -thin.eta_square * thin.first - kLittle;
    values_[diagonal_[r + 1]] = -thin.eta_square - kLittle;
    values_[diagonal_[r + 2]] = -thin.eta_square - kLittle;
    double* helpers = &values_[diagonal_[r + 2] + 1];
    helpers[0] = -thin.eta_square * thin.in * thin.w1;
    helpers[1] = -thin.eta_square * thin.in * thin.w2;
    helpers[2] = -thin.eta_square;
    helpers[3] = -thin.eta_square * thin.head;
    helpers[4] = -thin.eta_square * thin.out * thin.w1;
    helpers[5] = -thin.eta_square * thin.out * thin.w2;
    helpers[6] = thin.eta_square + kLittle;
  }
  void add_cone(std::size_t k, const Part& step, Part& left) const {
    const ConeScaling::Thin& thin = thin_[k];
    const std::size_t r = stated_.program.cones[k];
    const double in = step.helper[2 * k];
    const double out = step.helper[2 * k + 1];
    left.row[r] += thin.eta_square * (thin.first * step.row[r] + thin.head * out);
    const double both = thin.in * in + thin.out * out;
    left.row[r + 1] += thin.eta_square * (step.row[r + 1] + both * thin.w1);
    left.row[r + 2] += thin.eta_square * (step.row[r + 2] + both * thin.w2);
    const double inner = thin.w1 * step.row[r + 1] + thin.w2 * step.row[r + 2];
    left.helper[2 * k] += thin.eta_square * (thin.in * inner + in);
    left.helper[2 * k + 1] += thin.eta_square * (thin.head * step.row[r] + thin.out * inner - out);
  }

  // The upper triangle, column by column: a little for each variable; for each row its terms and
  // its scaling; behind the rows of a cone its helpers. Remembers where they are.
  std::vector<SymmetricFactor::Entry> entries() {
    const LinearProgram& program = stated_.program;
    std::vector<std::vector<std::pair<std::size_t, double>>> by_row(m_);
    for (std::size_t v = 0; v < n_; ++v) {
      for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
        if (program.terms[t].value == 0) continue;
        by_row[program.terms[t].row].emplace_back(v, program.terms[t].value);
      }
    }
    std::vector<SymmetricFactor::Entry> all;
    const auto add = [&](std::size_t row, std::size_t column, double value) {
      all.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(column)});
      values_.push_back(value);
    };
    for (std::size_t v = 0; v < n_; ++v) add(v, v, kLittle);
    diagonal_.resize(m_);
    place_.resize(m_);
    std::size_t next = n_;
    std::size_t in_cone = 0;  // rows of a cone so far
    for (std::size_t r = 0; r < m_; ++r) {
      for (const auto& [v, value] : by_row[r]) add(v, next, value);
      place_[r] = next;
      diagonal_[r] = values_.size();
      add(next, next, -1);
      ++next;
      if (stated_.in_cone[r] == 0) continue;
      if (++in_cone < 3) continue;
      in_cone = 0;
      for (std::size_t i = 2; i > 0; --i) add(next - i, next, 0);
      add(next, next, -1);
      ++next;
      for (std::size_t i = 4; i > 1; --i) add(next - i, next, 0);
      add(next, next, 1);
      ++next;
    }
    return all;
  }
  std::vector<signed char> signs() const {
    std::vector<signed char> all(n_, 1);
    std::size_t in_cone = 0;
    for (std::size_t r = 0; r < m_; ++r) {
      all.push_back(-1);
      if (stated_.in_cone[r] == 0 || ++in_cone % 3 != 0) continue;
      all.push_back(-1);
      all.push_back(1);
    }
    return all;
  }

  const Stated& stated_;
  std::size_t n_;
  std::size_t m_;
  std::vector<double> values_;         // of the entries
  std::vector<std::size_t> diagonal_;  // by row: its entry
  std::vector<std::size_t> place_;     // by row, in the equations
  SymmetricFactor factor_;
  std::vector<std::size_t> none_;
  std::vector<double> w_;  // empty at the start
  std::vector<ConeScaling::Thin> thin_;
  std::vector<double> all_;
  std::vector<double> spread_;
  std::vector<double> little_;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<StepEquations> whole_equations(const Stated& stated) {
  return std::make_unique<WholeEquations>(stated);
}

}  // namespace muster
