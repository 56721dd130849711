#include "run/assembly/make_allocator.h"

#include <algorithm>

#include "base/text.h"
#include "run/config/plugin_tables.h"

namespace muster {

Result<std::unique_ptr<Allocator>> make_allocator(const Choice& choice) {
  const auto allocators = allocator_table();
  const auto found =
      std::find_if(allocators.begin(), allocators.end(),
                   [&](const AllocatorInfo& one) { return one.name == choice.name; });
  if (found == allocators.end()) {
    std::vector<std::string_view> known;
    for (const AllocatorInfo& one : allocators) known.push_back(one.name);
    return Error{unknown_name("policy that allocates fractions of time", choice.name, known)};
  }
  const auto row = find_row("scheduling policy", plugin_tables().scheduling, choice.name);
  if (!row) return row.error();
  const auto params =
      Params::make("scheduling policy '" + choice.name + "'", (*row)->params, choice.params);
  if (!params) return params.error();
  return found->make(*params, params->flag("as_published"));
}

}  // namespace muster
