#include "run/config/declarations.h"

#include <fmt/format.h>

#include "base/table_lookup.h"
#include "policy/abilities.h"
#include "run/config/plugin_tables.h"
#include "run/config/plugins.h"

namespace muster {
namespace {

template <typename Traits>
Declaration declared(const Traits& traits, std::span<const Ability<Traits>> abilities) {
  Declaration declaration;
  declaration.needs.assign(traits.needs.begin(), traits.needs.end());
  for (const Ability<Traits>& ability : abilities) {
    if (traits.*ability.declared) declaration.does.push_back(ability.name);
  }
  return declaration;
}

Declaration declared(const SchedulingPolicy& policy) {
  const SchedulingTraits traits = policy.traits();
  Declaration declaration = declared(traits, scheduling_abilities());
  declaration.keeps_truth = traits.keeps_truth;
  return declaration;
}
Declaration declared(const PlacementPolicy& policy) {
  return declared(policy.traits(), placement_abilities());
}
template <typename Policy>
Declaration declared(const Policy& policy) {
  const Needs needs = policy.needs();
  return {{needs.begin(), needs.end()}, {}, false};
}

template <typename Table>
Result<Declaration> made(std::string_view kind, const Table& table, const Choice& choice) {
  const auto policy = make_from(plugin_kind(kind).noun, table, choice.name, choice.params);
  if (!policy) return policy.error();
  return declared(**policy);
}

}  // namespace

namespace {

template <typename Policy>
Result<Declaration> loaded(const Result<std::unique_ptr<Policy>>& policy) {
  if (!policy) return policy.error();
  return declared(**policy);
}

}  // namespace

Result<Declaration> declaration_of(std::string_view kind, const Choice& choice,
                                   const PolicyLoader* loader) {
  if (loader != nullptr && loader->knows(kind, choice.name)) {
    if (kind == "admission") return loaded(loader->admission(choice, nullptr));
    if (kind == "scheduling") return loaded(loader->scheduling(choice, nullptr));
    return loaded(loader->placement(choice, nullptr));
  }
  if (kind == "admission") return made(kind, plugin_tables().admission, choice);
  if (kind == "scheduling") return made(kind, plugin_tables().scheduling, choice);
  if (kind == "placement") return made(kind, plugin_tables().placement, choice);
  if (kind == "selector") return made(kind, plugin_tables().selector, choice);
  if (kind == "scaling") return made(kind, plugin_tables().scaling, choice);
  return Declaration{};
}

Result<DeclaredRow> declared_row(std::string_view kind, std::string_view name) {
  const auto row = find_plugin(plugin_kind(kind), name);
  if (!row) return row.error();
  DeclaredRow result;
  auto usual = declaration_of(kind, {std::string(name)});
  if (!usual) return usual.error();
  result.usual = std::move(*usual);
  for (const ParamInfo& info : *(*row)->params) {
    std::vector<std::string_view> values = info.choices;
    if (info.kind == ParamKind::kFlag) values = {"true", "false"};
    for (const std::string_view value : values) {
      if (value == info.initial) continue;
      auto other =
          declaration_of(kind, {std::string(name), {{std::string(info.name), std::string(value)}}});
      if (!other) return other.error();
      if (*other == result.usual) continue;
      result.variants.push_back({fmt::format("{} = {}", info.name, value), std::move(*other)});
    }
  }
  return result;
}

std::string need_text(const Need& need) {
  const KnowledgeInfo& info = info_of(need.of);
  if (need.of == Knowledge::kDuration) return std::string(info.name);
  return fmt::format(
      "{} ({})", info.name,
      need.refuses() ? "refused without" : fmt::format("without: {}", need.otherwise));
}

}  // namespace muster
