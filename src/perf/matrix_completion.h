// Fills the gaps of a matrix of which only some cells are known, on the assumption that a few
// hidden factors make it: rows times columns of low rank, fitted to the known cells by alternating
// least squares (probabilistic matrix factorisation, Salakhutdinov and Mnih, 2008).
//
// Use it for tables of measurements of which not all were taken, such as the speeds of pairs of
// jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace muster {

struct CompletionOptions {
  int rank = 10;
  double ridge = 0.01;      // weight of the squared factors, which keeps them small
  int sweeps = 100;         // at most
  double tolerance = 1e-3;  // mean change of the cells in a sweep at which it ends
  std::uint64_t seed = 0;
};

// Row by row; `known` marks the cells that count. All cells of the answer come from the factors,
// the known ones too. Nothing if no cell is known or the numbers are not finite.
std::optional<std::vector<double>> complete_matrix(std::span<const double> cells,
                                                   std::span<const char> known, std::size_t rows,
                                                   std::size_t columns,
                                                   const CompletionOptions& options = {});

}  // namespace muster
