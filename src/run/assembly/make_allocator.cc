#include "run/assembly/make_allocator.h"

#include <algorithm>

#include "base/table_lookup.h"
#include "base/text.h"
#include "run/config/plugin_tables.h"

namespace muster {

Result<std::unique_ptr<Allocator>> make_allocator(const Choice& choice) {
  const auto& table = plugin_tables().scheduling;
  constexpr std::string_view kNoun = "scheduling policy";
  std::vector<std::string_view> known;
  for (const auto& row : table) {
    const auto usual = make_from(kNoun, table, row.name, {});
    if (usual && (*usual)->traits().allocates_fractions) known.push_back(row.name);
  }
  if (std::find(known.begin(), known.end(), choice.name) == known.end()) {
    return Error{unknown_name("policy that allocates fractions of time", choice.name, known)};
  }
  auto policy = make_from(kNoun, table, choice.name, choice.params);
  if (!policy) return policy.error();
  return (*policy)->allocator()->clone();
}

}  // namespace muster
