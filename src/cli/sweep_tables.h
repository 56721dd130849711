// What `muster sweep` prints and writes of its results.
#pragma once

#include <string>
#include <vector>

#include "run/sweep/sweep.h"

namespace muster {

// A row per cell: means with confidence intervals, and the first figure against the baseline.
void print_cells(const SweepConfig& sweep, const std::vector<SweepCell>& cells,
                 const std::vector<std::string>& metrics);

// The highest rate that every combination of the other axes can take.
void print_found_rates(const SweepConfig& sweep, const SweepResult& result);

std::string cells_json(const SweepConfig& sweep, const std::vector<SweepCell>& cells,
                       const std::vector<std::string>& metrics);

}  // namespace muster
