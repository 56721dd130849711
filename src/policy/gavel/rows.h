// What the rows of Gavel's policies are made of: an allocator by name, with its parameters, and the
// rounds around it.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/params.h"
#include "policy/gavel/program_allocators.h"
#include "policy/gavel/rounds.h"
#include "policy/needs.h"

namespace muster {

// What the allocator solves: nothing, a linear program, or one with logarithms, which the simplex
// method does not know.
enum class Solves { kNothing, kLinear, kConcave };

// The single figure that an allocator makes as large as possible, where it is one: the least over
// all jobs of the throughput by some unit, or the sum of all throughputs.
enum class Goal { kNone, kLeastByPart, kLeastByIsolated, kLeastBySteps, kSum };

struct AllocatorInfo {
  std::string_view name;  // "gavel-" and Gavel's own name, with dashes
  std::string_view sentence;
  // `options` are those of a program; others do not look at them.
  std::unique_ptr<Allocator> (*make)(const Params& params, const ProgramOptions& options);
  Sight sight = Sight::kRates;  // of a program
  Solves solves = Solves::kNothing;
  Goal goal = Goal::kNone;
  Needs needs = {};              // what it asks its problem for
  bool packs = false;            // lets jobs share GPUs
  bool draws = false;            // it, or the order of the types in its rounds, is drawn at random
  std::string_view system = {};  // of which this is Gavel's own form
  void (*own_params)(ParamList& params) = nullptr;  // adds those that no other has
};
std::span<const AllocatorInfo> allocator_table();

// The parameters of its row: those of the rounds, and those that its allocator reads.
ParamList allocator_params(const AllocatorInfo& info);
ProgramOptions program_options(const AllocatorInfo& info, const Params& params);
WaterOptions water_options(const Params& params);
RoundOptions round_options(const AllocatorInfo& info, const Params& params);
// The allocator for problems in as many parts as the parameters ask for.
std::unique_ptr<Allocator> in_parts(const AllocatorInfo& info, const Params& params,
                                    std::unique_ptr<Allocator> whole);

}  // namespace muster
