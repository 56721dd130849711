// The assignment problem as older versions of SciPy solve it: where several assignments are equally
// good, the one that Gavel's notebooks were made with. For any other use, solve/assignment.h.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace muster {

// By Munkres' algorithm (the Hungarian method), with the answer among equals that SciPy gave before
// version 1.4. `cost` is row by row, all entries finite, rows <= columns. The column of each row.
// O(rows^3 * columns) at worst.
std::vector<std::size_t> assign_rows_by_munkres(std::span<const double> cost, std::size_t rows,
                                                std::size_t columns);

}  // namespace muster
