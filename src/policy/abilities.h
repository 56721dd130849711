// What policies do, as their traits declare it, in words: for lists, the reference page and tests
// that choose policies by what they can do instead of by name.
#pragma once

#include <span>
#include <string_view>

#include "policy/placement.h"
#include "policy/scheduling.h"

namespace muster {

template <typename Traits>
struct Ability {
  std::string_view name;      // "preempts"
  std::string_view sentence;  // what that means
  bool Traits::*declared;
};

std::span<const Ability<SchedulingTraits>> scheduling_abilities();
std::span<const Ability<PlacementTraits>> placement_abilities();

}  // namespace muster
