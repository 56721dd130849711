#include "solve/row_products.h"

#include <algorithm>
#include <numeric>

namespace muster {

RowProducts::RowProducts(const LinearProgram& program) : place_of_term_(program.terms.size()) {
  std::vector<std::size_t> length(program.rows(), 0);
  for (const LinearProgram::Term& term : program.terms) ++length[term.row];
  std::vector<std::uint32_t> order(program.rows());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return length[a] > length[b]; });
  std::vector<std::size_t> next(program.rows());  // where the row's next term goes
  std::size_t size = 0;
  for (std::size_t at = 0; at < order.size(); at += kSide) {
    Block block{{}, std::min(kSide, order.size() - at), size, length[order[at]]};
    for (std::size_t i = 0; i < block.used; ++i) {
      block.rows[i] = order[at + i];
      next[block.rows[i]] = size + i;
    }
    size += kSide * block.length;
    blocks_.push_back(block);
  }
  variables_.assign(size, 0);
  values_.assign(size, 0.0);
  for (std::size_t v = 0; v < program.variables(); ++v) {
    for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
      std::size_t& place = next[program.terms[t].row];
      place_of_term_[t] = place;
      variables_[place] = static_cast<std::uint32_t>(v);
      values_[place] = program.terms[t].value;
      place += kSide;
    }
  }
}

void RowProducts::add(const std::vector<double>& x, std::vector<double>& rows) const {
  for (const Block& block : blocks_) {
    std::array<double, kSide> sums{};
    for (std::size_t i = 0; i < block.used; ++i) sums[i] = rows[block.rows[i]];
    const double* value = values_.data() + block.first;
    const std::uint32_t* variable = variables_.data() + block.first;
    for (std::size_t k = 0; k < block.length; ++k, value += kSide, variable += kSide) {
      for (std::size_t i = 0; i < kSide; ++i) sums[i] += value[i] * x[variable[i]];
    }
    for (std::size_t i = 0; i < block.used; ++i) rows[block.rows[i]] = sums[i];
  }
}

}  // namespace muster
