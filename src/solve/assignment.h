// The assignment problem: every row gets a column of its own so that the costs add up to least.
//
// Shortest augmenting paths (Crouse, 2016). Among equally good answers it gives the one that
// SciPy's linear_sum_assignment gives today, because published schedulers call that and their
// ties matter. For whom any best answer will do, nothing here is slower for it: O(rows * rows *
// columns) at worst.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace muster {

// `cost` is row by row, all entries finite, rows <= columns. The column of each row.
std::vector<std::size_t> assign_rows(std::span<const double> cost, std::size_t rows,
                                     std::size_t columns);
// The same by Munkres' algorithm, with the answer among equals that SciPy gave before version 1.4,
// and much more slowly: to repeat what was made with it.
std::vector<std::size_t> assign_rows_by_munkres(std::span<const double> cost, std::size_t rows,
                                                std::size_t columns);

}  // namespace muster
