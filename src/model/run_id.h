// One launch of a job. Launches of a job are numbered from 1; commands and reports carry the pair,
// so that a late word about launch 3 never touches launch 4.
#pragma once

#include <compare>
#include <cstdint>

#include "model/ids.h"

namespace muster {

struct RunId {
  JobId job = kNoJob;
  std::uint32_t launch = 0;

  friend auto operator<=>(const RunId&, const RunId&) = default;
};

}  // namespace muster
