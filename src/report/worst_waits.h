// The jobs of a run that waited longest, and what most of their waiting was for: where to begin
// when asking why a run is slow.
#pragma once

#include <string>
#include <vector>

#include "report/explain.h"

namespace muster {

// Longest first; jobs that never waited are not among them.
Result<std::vector<Story>> worst_waits(const ResultFolder& result, std::size_t most);

std::string worst_waits_text(const std::vector<Story>& stories, const ResultFolder& result,
                             const TextStyle& style);
std::string worst_waits_json(const std::vector<Story>& stories);

}  // namespace muster
