// Performance models that need a number or two and no measured table.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "base/symbols.h"
#include "perf/perf_model.h"

namespace muster {

// Amdahl's law: the part `serial` of the work does not speed up with GPUs.
std::unique_ptr<PerfModel> make_scaling(double serial);

// A job that spans nodes or racks loses a part of its speed. Only these models do; empty: all.
std::unique_ptr<PerfModel> make_locality(double across_nodes, double across_racks,
                                         std::set<Symbol> only);

// GPU types differ in speed, the same for all jobs; types that are not named run at 1.
std::unique_ptr<PerfModel> make_gpu_types(std::map<Symbol, double> speeds);

// Jobs that share GPUs slow each other down: each neighbour costs the part `loss`.
std::unique_ptr<PerfModel> make_sharing(double loss);

}  // namespace muster
