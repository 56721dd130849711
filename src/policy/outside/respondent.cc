#include "policy/outside/respondent.h"

#include <algorithm>
#include <array>
#include <list>
#include <mutex>
#include <set>

#include "base/text.h"

namespace muster {
namespace {

constexpr DeclaredFlag kDeclaredFlags[] = {
    {"preemptive", &Declared::preemptive},
    {"stable_between_events", &Declared::stable_between_events},
    {"strict", &Declared::strict},
    {"work_conserving", &Declared::work_conserving},
    {"resizes", &Declared::resizes},
    {"co_locates", &Declared::co_locates},
    {"needs_periodic_turns", &Declared::needs_periodic_turns},
    {"keys_rest", &Declared::keys_rest},
    {"knows_types", &Declared::knows_types},
    {"backfill", &Declared::backfill},
};

constexpr DeclaredNumber kDeclaredNumbers[] = {
    {"quantum", &Declared::quantum},
    {"round", &Declared::round},
    {"reset_interval", &Declared::reset_interval},
    {"seed", &Declared::seed},
};

constexpr std::array<std::string_view, 15> kKnowledgeNames = {
    "duration", "estimate",  "deadline", "priority",      "sizes",
    "scaling",  "gpu_types", "locality", "profile",       "pairs",
    "stages",   "host",      "forecast", "node_forecast", "prices"};

// Needs refer to their texts and are copied about: the few different ones live for ever.
std::mutex& keeping() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

std::string_view kept_for_ever(const std::string& text) {
  static auto* const texts = new std::set<std::string>;
  const std::scoped_lock lock(keeping());
  return *texts->insert(text).first;
}

}  // namespace

std::span<const DeclaredFlag> declared_flags() { return kDeclaredFlags; }
std::span<const DeclaredNumber> declared_numbers() { return kDeclaredNumbers; }
std::span<const std::string_view> knowledge_names() { return kKnowledgeNames; }

Result<Need> need_named(const std::string& name, const std::string& otherwise) {
  const auto at = std::find(kKnowledgeNames.begin(), kKnowledgeNames.end(), name);
  if (at == kKnowledgeNames.end()) {
    return Error{unknown_name("need", name, {kKnowledgeNames.begin(), kKnowledgeNames.end()})};
  }
  return Need{static_cast<Knowledge>(at - kKnowledgeNames.begin()), kept_for_ever(otherwise)};
}

Needs kept_needs(const std::vector<Need>& needs) {
  static auto* const lists = new std::list<std::vector<Need>>;
  const std::scoped_lock lock(keeping());
  const auto known = std::find(lists->begin(), lists->end(), needs);
  return known != lists->end() ? *known : lists->emplace_back(needs);
}

}  // namespace muster
