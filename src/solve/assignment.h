// The assignment problem, a matching of minimum cost in a complete bipartite graph: every row gets
// a column of its own so that the sum of costs is least.
//
// Successive shortest augmenting paths (Jonker and Volgenant 1987, in the rectangular form of
// Crouse, "On implementing 2D rectangular assignment algorithms", 2016). Rows are added one by one,
// each by a shortest path in reduced costs, cost - row dual - column dual, to a free column.
// Invariant: reduced costs are never negative and are zero on assigned edges (tight), so that the
// partial assignment is optimal for its rows. Time: O(rows^2 * columns).
//
// Among equally good answers it gives the one that SciPy's linear_sum_assignment gives today,
// because published schedulers call that and their ties matter.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace muster {

// `cost` is row by row, all entries finite, rows <= columns. The column of each row.
std::vector<std::size_t> assign_rows(std::span<const double> cost, std::size_t rows,
                                     std::size_t columns);

}  // namespace muster
