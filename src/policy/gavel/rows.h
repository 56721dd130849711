// What the rows of Gavel's policies are made of: an allocator by name, with its parameters, and the
// rounds around it.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/params.h"
#include "policy/gavel/program_allocators.h"
#include "policy/gavel/rounds.h"

namespace muster {

struct AllocatorInfo {
  std::string_view name;  // "gavel-" and Gavel's own name, with dashes
  std::string_view sentence;
  Sight sight;  // of a program
  // `options` are those of a program; others do not look at them.
  std::unique_ptr<Allocator> (*make)(const Params& params, const ProgramOptions& options);
};
std::span<const AllocatorInfo> allocator_table();

// What is asked of an allocator by its name: whether it lets jobs share GPUs, and whether it solves
// linear programs.
bool packs(std::string_view name);
bool is_program(std::string_view name);

// The parameters of the row of that name, and what they say.
ParamList allocator_params(std::string_view name);
ProgramOptions program_options(const AllocatorInfo& info, const Params& params);
WaterOptions water_options(const Params& params);
RoundOptions round_options(const AllocatorInfo& info, const Params& params);
// The allocator for problems in as many parts as the parameters ask for.
std::unique_ptr<Allocator> in_parts(const AllocatorInfo& info, const Params& params,
                                    std::unique_ptr<Allocator> whole);

}  // namespace muster
