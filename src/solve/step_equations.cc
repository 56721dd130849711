#include "solve/step_equations.h"

#include <algorithm>

#include "solve/normal_system.h"

namespace muster {

namespace {

LinearProgram stated(const LinearProgram& original, const Balance& balance) {
  return spread(balanced(original, balance));
}

}  // namespace

Stated::Stated(const LinearProgram& original, bool as_ecos)
    : balance(balance_of(original, free_variables(original), as_ecos)),
      program(stated(original, balance)),
      free(free_variables(original)),
      in_cone(original.rows(), 0),
      rows(program) {
  for (const std::size_t r : original.cones) in_cone[r] = in_cone[r + 1] = in_cone[r + 2] = 1;
  for (std::size_t v = 0; v < program.variables(); ++v) {
    signs.push_back(1 / (balance.signs[v] * balance.columns[v]));
  }
}

double dot_column(const LinearProgram& program, std::size_t variable,
                  const std::vector<double>& rows) {
  double sum = 0;
  for (std::size_t t = program.first_term(variable); t < program.last_term(variable); ++t) {
    sum += program.terms[t].value * rows[program.terms[t].row];
  }
  return sum;
}

namespace {

// Prices of signs are eliminated first, then variables; what is left are the rows, by groups.
class GroupedEquations final : public StepEquations {
 public:
  explicit GroupedEquations(const Stated& stated)
      : stated_(stated),
        program_(stated.program),
        scaled_(stated.program),
        system_(scaled_),
        scaled_rows_(scaled_),
        n_(program_.variables()),
        m_(program_.rows()),
        is_wide_(n_, 0),
        large_(system_.has_large_group()) {
    for (const std::size_t v : system_.wide()) is_wide_[v] = 1;
  }
  // With large groups a refinement takes as long as anything else, and further digits change no
  // answer that anybody reads.
  double exactness() const override { return large_ ? 1e-11 : StepEquations::exactness(); }
  const std::vector<std::size_t>& wide() const override { return system_.wide(); }

  // Rows of cones are scaled themselves, which leaves a scaling of one. A free variable has nothing
  // that holds it: a little does; refining makes up for it.
  bool factor(const Part& w, const std::vector<ConeScaling>& cones) override {
    w_ = w;
    cones_ = cones;
    d_.resize(n_);
    f_.resize(m_);
    for (std::size_t v = 0; v < n_; ++v) {
      const double sign = stated_.sign(v);
      const double held = stated_.is_free(v) ? 0 : sign * sign / w.sign[v];
      const bool loose = stated_.is_free(v) && is_wide_[v] == 0;
      d_[v] = 1 / (stated_.copies(v) * (held + (loose ? kLittle : 0)));
    }
    for (std::size_t r = 0; r < m_; ++r) {
      f_[r] = (stated_.in_cone[r] != 0 ? 1 : w.row[r]) / stated_.row_copies(r);
    }
    if (!cones_.empty()) scale_terms();
    return system_.factor(d_, f_);
  }

  void solve(const Part& right, Part& step) override {
    toward_.assign(n_, 0.0);
    spread_.assign(n_, 0.0);
    for (std::size_t v = 0; v < n_; ++v) {
      toward_[v] = right.x[v] * stated_.copies(v);
      if (!stated_.is_free(v)) {
        toward_[v] -= stated_.copies(v) * stated_.sign(v) * right.sign[v] / w_.sign[v];
      }
      if (is_wide_[v] == 0) spread_[v] = d_[v] * toward_[v];
    }
    std::vector<double>& wide = wide_;
    wide.clear();
    for (const std::size_t v : system_.wide()) wide.push_back(toward_[v]);
    prices_ = right.row;
    unscale(prices_);
    for (double& price : prices_) price = -price;
    scaled_rows_.add(spread_, prices_);
    system_.solve_in_place(prices_, wide);
    step.x.assign(n_, 0.0);
    step.sign.assign(n_, 0.0);
    step.row.resize(m_);
    for (std::size_t v = 0; v < n_; ++v) {
      if (is_wide_[v] != 0) continue;
      step.x[v] = d_[v] * (toward_[v] - dot_column(scaled_, v, prices_));
      if (stated_.is_free(v)) continue;
      step.sign[v] = (-stated_.sign(v) * step.x[v] - right.sign[v]) / w_.sign[v];
    }
    for (std::size_t k = 0; k < wide.size(); ++k) step.x[system_.wide()[k]] = -wide[k];
    for (std::size_t r = 0; r < m_; ++r) step.row[r] = prices_[r] / stated_.row_copies(r);
    unscale(step.row);
  }

  void subtract_product(const Part& step, Part& left) override {
    prices_.resize(m_);
    for (std::size_t r = 0; r < m_; ++r) prices_[r] = stated_.row_copies(r) * step.row[r];
    spread_.assign(m_, 0.0);
    stated_.rows.add(step.x, spread_);
    for (std::size_t v = 0; v < n_; ++v) {
      left.x[v] -= dot_column(program_, v, prices_) / stated_.copies(v);
      if (stated_.is_free(v)) continue;
      const double sign = stated_.sign(v);
      left.x[v] += sign * step.sign[v];
      left.sign[v] += sign * step.x[v] + w_.sign[v] * step.sign[v];
    }
    for (std::size_t r = 0; r < m_; ++r) {
      left.row[r] -= spread_[r] - (stated_.in_cone[r] != 0 ? 0 : w_.row[r] * step.row[r]);
    }
    for (std::size_t k = 0; k < cones_.size(); ++k) {
      const std::size_t r = program_.cones[k];
      const Triple far = cones_[k].times(cones_[k].times(triple_at(step.row, r)));
      for (std::size_t i = 0; i < 3; ++i) left.row[r + i] += far[i];
    }
  }

 private:
  void unscale(std::vector<double>& rows) const {
    for (std::size_t k = 0; k < cones_.size(); ++k) {
      const std::size_t r = program_.cones[k];
      put_triple(cones_[k].over(triple_at(rows, r)), rows, r);
    }
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

  const Stated& stated_;
  const LinearProgram& program_;
  LinearProgram scaled_;  // the same with the rows of cones scaled
  NormalSystem system_;
  RowProducts scaled_rows_;
  std::size_t n_;
  std::size_t m_;
  std::vector<char> is_wide_;  // by variable: eliminated last
  bool large_;                 // there is a large group
  Part w_;
  std::vector<ConeScaling> cones_;
  std::vector<double> d_;
  std::vector<double> f_;
  std::vector<double> wide_;  // scratch, as are the next ones
  std::vector<double> toward_;
  std::vector<double> spread_;
  std::vector<double> prices_;
};

}  // namespace

std::unique_ptr<StepEquations> grouped_equations(const Stated& stated) {
  return std::make_unique<GroupedEquations>(stated);
}

}  // namespace muster
