// Gavel's policies with the defects of its simulator: one plug-in for all of them.
#include <algorithm>
#include <cassert>
#include <string>

#include "artifacts/gavel/allocators.h"
#include "artifacts/gavel/munkres.h"
#include "artifacts/gavel/rounds.h"
#include "policy/gavel/rows.h"
#include "policy/table.h"
#include "solve/assignment.h"
#include "solve/homogeneous.h"

namespace muster {
namespace {

constexpr std::string_view kPrefix = "gavel-";

const AllocatorInfo& allocator_of(const Params& params) {
  const std::string name = std::string(kPrefix) + params.text("policy");
  const auto rows = allocator_table();
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const AllocatorInfo& row) { return row.name == name; });
  assert(found != rows.end() && "the parameter's choices are these names");
  return *found;
}

// Of equally good assignments the one that SciPy found before version 1.4.
std::vector<std::size_t> assign_as_older_scipy(std::span<const double> runs,
                                               std::span<const double> anywhere,
                                               std::size_t queues) {
  const std::size_t jobs = anywhere.size();
  return assign_rows_by_munkres(queue_costs(runs, anywhere, queues), jobs, jobs * queues);
}

std::unique_ptr<SchedulingPolicy> make_policy(const Params& params) {
  const AllocatorInfo& info = allocator_of(params);
  auto allocator = in_parts(info, params, make_as_coded_allocator(params));
  const bool owes_pairs = info.packs && !params.flag("even_pairs");
  return std::make_unique<RoundsAsCoded>(std::move(allocator), round_options(info, params),
                                         owes_pairs);
}

// Those of all the policies, and what only the artifact has.
ParamList all_params() {
  ParamInfo policy{
      "policy",   ParamKind::kText,
      "isolated", "which of Gavel's policies; each also has a row of its own, without defects",
      -1,         -1,
      {}};
  ParamList params;
  for (const AllocatorInfo& row : allocator_table()) {
    policy.choices.push_back(row.name.substr(kPrefix.size()));
    for (const ParamInfo& one : allocator_params(row)) {
      const bool known = std::any_of(params.begin(), params.end(), [&](const ParamInfo& other) {
        return other.name == one.name;
      });
      if (!known) params.push_back(one);
    }
  }
  params.insert(params.begin(), policy);
  params.push_back({"even_pairs", ParamKind::kFlag, "false",
                    "a new pair begins with no deficit, as in the runs of Gavel's notebooks, "
                    "instead of half a round"});
  params.push_back({"one_level", ParamKind::kFlag, "false",
                    "water filling stops after the first level, as in Gavel's notebook"});
  params.push_back({"munkres", ParamKind::kFlag, "false",
                    "allox breaks ties between assignments as SciPy before version 1.4 did, as in "
                    "the runs of Gavel's notebooks"});
  return params;
}

}  // namespace

LinearSolution solve_self_dual(const LinearProgram& program, double tolerance) {
  LinearSolution solution = solve_homogeneous(program);
  return solution.status == SolveStatus::kOptimal ? solution
                                                  : solve_in_interior(program, tolerance);
}

ProgramOptions as_coded(ProgramOptions options) {
  options.form = &literal_form();
  if (options.solver == solve_in_interior) options.solver = solve_self_dual;
  return options;
}

std::unique_ptr<Allocator> make_as_coded_allocator(const Params& params) {
  const AllocatorInfo& info = allocator_of(params);
  const ProgramOptions options = as_coded(program_options(info, params));
  const auto is = [&info](std::string_view part) { return info.name.find(part) != info.name.npos; };
  if (is("fifo")) {
    const FifoMode mode = is("packed") ? FifoMode::kPacked
                          : is("perf") ? FifoMode::kBestType
                                       : FifoMode::kAnyType;
    return make_fifo_as_coded(mode, params.integer("seed"), params.real("threshold"));
  }
  if (is("allox") && params.flag("munkres")) {
    return make_gavel_allox(params.real("alpha"), assign_as_older_scipy);
  }
  if (is("gandiva")) return make_gavel_gandiva(params.integer("seed"), gains_in_sum);
  if (is("min-total-duration")) return make_makespan_as_coded(options);
  if (is("water-filling")) {
    return make_water_filling_as_coded(options, water_options(params), params.flag("one_level"));
  }
  return info.make(params, options);
}

PolicyInfo<SchedulingPolicy> gavel_as_coded_row() {
  return {"gavel-as-coded",
          "one of Gavel's policies with the defects of its simulator; see docs/gavel.md",
          "Gavel, 2020", all_params(), make_policy};
}

}  // namespace muster
