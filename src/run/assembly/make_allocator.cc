#include "run/assembly/make_allocator.h"

#include <algorithm>

#include "artifacts/gavel/allocators.h"
#include "base/text.h"
#include "policy/gavel/rows.h"
#include "run/config/plugin_tables.h"

namespace muster {

Result<std::unique_ptr<Allocator>> make_allocator(const Choice& choice) {
  constexpr std::string_view kAsCoded = "gavel-as-coded";
  const auto allocators = allocator_table();
  const auto found =
      std::find_if(allocators.begin(), allocators.end(),
                   [&](const AllocatorInfo& one) { return one.name == choice.name; });
  if (found == allocators.end() && choice.name != kAsCoded) {
    std::vector<std::string_view> known;
    for (const AllocatorInfo& one : allocators) known.push_back(one.name);
    known.push_back(kAsCoded);
    return Error{unknown_name("policy that allocates fractions of time", choice.name, known)};
  }
  const auto row = find_row("scheduling policy", plugin_tables().scheduling, choice.name);
  if (!row) return row.error();
  const auto params =
      Params::make("scheduling policy '" + choice.name + "'", (*row)->params, choice.params);
  if (!params) return params.error();
  if (choice.name == kAsCoded) return make_as_coded_allocator(*params);
  return found->make(*params, program_options(*found, *params));
}

}  // namespace muster
