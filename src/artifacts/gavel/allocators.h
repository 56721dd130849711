// Allocators with the defects of Gavel's code; docs/gavel.md names them.
#pragma once

#include <memory>

#include "base/params.h"
#include "policy/gavel/program_allocators.h"
#include "policy/gavel/simple_allocators.h"

namespace muster {

std::unique_ptr<Allocator> make_fifo_as_coded(FifoMode mode, std::int64_t seed, double threshold);
bool gains_in_sum(const AllocationProblem& problem, std::size_t pair);  // for make_gavel_gandiva()
std::unique_ptr<Allocator> make_makespan_as_coded(const ProgramOptions& options);
// `one_level`: every job is full after the first level.
std::unique_ptr<Allocator> make_water_filling_as_coded(const ProgramOptions& options,
                                                       const WaterOptions& water, bool one_level);

// Programs as Gavel's code states them: as the definition reads, with a variable for every job,
// pair and type that has GPUs, and with the answer that the solver gives.
const ProgramForm& literal_form();
// Programs in that form, and the solver for them: where the best answer is not unique, it ends
// where solvers of the kind that the published results were made with end (solve/homogeneous.h).
ProgramOptions as_coded(ProgramOptions options);
LinearSolution solve_self_dual(const LinearProgram& program, double tolerance);
// The allocator that the parameters of the row `gavel-as-coded` describe.
std::unique_ptr<Allocator> make_as_coded_allocator(const Params& params);

}  // namespace muster
