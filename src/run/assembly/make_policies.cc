#include "run/assembly/make_policies.h"

#include "base/table_lookup.h"
#include "run/config/plugin_tables.h"
#include "run/config/plugins.h"
#include "workload/byte_input.h"

namespace muster {
namespace {

template <typename Table>
auto made_of(std::string_view kind, const Table& table, const Choice& choice) {
  return make_from(plugin_kind(kind).noun, table, choice.name, choice.params);
}

// Policies read no files: where their durations are one, they get what it holds.
Result<Choice> with_durations(Choice choice) {
  const auto given = choice.params.find(kDurations);
  if (given == choice.params.end() || !names_a_file(given->second)) return choice;
  auto text = read_whole(given->second);
  if (!text) {
    return Error{"scheduling policy '" + choice.name + "', durations: " + text.error().message};
  }
  given->second = std::move(*text);
  return choice;
}

}  // namespace

Result<PolicySet> make_policy_set(const PolicySetConfig& chosen, const PolicyLoader* loader,
                                  const Symbols& symbols) {
  const auto outside = [&](std::string_view kind, const Choice& choice) {
    return loader != nullptr && loader->knows(kind, choice.name);
  };
  auto first = outside("admission", chosen.admission)
                   ? loader->admission(chosen.admission, &symbols)
                   : made_of("admission", plugin_tables().admission, chosen.admission);
  if (!first) return first.error();
  const auto policy = with_durations(chosen.scheduling);
  if (!policy) return policy.error();
  auto second = outside("scheduling", *policy)
                    ? loader->scheduling(*policy, &symbols)
                    : made_of("scheduling", plugin_tables().scheduling, *policy);
  if (!second) return second.error();
  auto third = outside("placement", chosen.placement)
                   ? loader->placement(chosen.placement, &symbols)
                   : made_of("placement", plugin_tables().placement, chosen.placement);
  if (!third) return third.error();
  return PolicySet{std::move(*first), std::move(*second), std::move(*third)};
}

}  // namespace muster
