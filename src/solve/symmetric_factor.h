// L D L' of a sparse symmetric matrix whose pivots have known signs, some positive and some
// negative, as the equations of an interior point step have them. Rows are ordered by minimum
// degree (SuiteSparse' AMD) once; factoring again takes new values for the same pattern. A pivot
// of the wrong sign, or next to none, is replaced by a small one of the right sign, which whoever
// solves makes up for by refining.
#pragma once

#include <cstdint>
#include <vector>

namespace muster {

class SymmetricFactor {
 public:
  // Of the upper triangle; by columns, in any order within one.
  struct Entry {
    std::int32_t row;
    std::int32_t column;
  };
  // `signs` of the pivots: 1 or -1, by row.
  SymmetricFactor(const std::vector<Entry>& entries, const std::vector<signed char>& signs);

  // Values in the order of the entries.
  void factor(const std::vector<double>& values);
  // In place.
  void solve(std::vector<double>& x);

 private:
  void order(const std::vector<Entry>& entries, const std::vector<signed char>& signs);
  void find_tree();
  // The pattern of a row of L: what can be reached in the tree from the entries of a column, in an
  // order in which it can be eliminated. The last `size - first` places of reached_.
  std::size_t reach(std::int32_t column, const std::vector<double>& values);

  std::int32_t size_;
  std::vector<std::int32_t> place_;    // of each row in the order
  std::vector<signed char> signs_;     // by place
  std::vector<std::size_t> starts_;    // of the columns, by place
  std::vector<std::int32_t> rows_;     // by place, of the ordered entries
  std::vector<std::size_t> entry_of_;  // of the ordered entries
  std::vector<std::int32_t> parent_;   // in the elimination tree
  std::vector<std::size_t> first_;     // of the columns of L
  std::vector<std::size_t> filled_;    // so far, while factoring
  std::vector<std::int32_t> below_;    // rows of L by column
  std::vector<double> lower_;
  std::vector<double> pivots_;
  std::vector<double> line_;  // the row that is being eliminated
  std::vector<std::int32_t> reached_;
  std::vector<std::int32_t> path_;
  std::vector<std::int32_t> seen_;
  std::vector<double> ordered_;
};

}  // namespace muster
