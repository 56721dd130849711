// The product of a program's rows and a vector, for those who need it thousands of times.
//
// Going through the variables and adding to their rows makes every addition wait for the last one
// to the same row. Here four rows are summed side by side. Each row adds its terms in the order of
// their variables, so that the sums are the same to the last bit.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "solve/linear_program.h"

namespace muster {

class RowProducts {
 public:
  explicit RowProducts(const LinearProgram& program);

  // The value of a term, by its place in the program.
  void set_value(std::size_t term, double value) { values_[place_of_term_[term]] = value; }
  // rows += the product.
  void add(const std::vector<double>& x, std::vector<double>& rows) const;

 private:
  static constexpr std::size_t kSide = 4;
  struct Block {
    std::array<std::uint32_t, kSide> rows;
    std::size_t used;   // of these
    std::size_t first;  // of its terms; a row that is shorter than the longest ends in zeros
    std::size_t length;
  };
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> variables_;
  std::vector<double> values_;
  std::vector<std::size_t> place_of_term_;
};

}  // namespace muster
