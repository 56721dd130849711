// summary.json from anywhere: it is read or refused, and what was read can be written and read
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "report/summary_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto first = muster::summary_from_json(text, "summary.json");
  if (!first) return 0;
  const std::string written = muster::summary_to_json(*first);
  const auto second = muster::summary_from_json(written, "summary.json");
  if (!second || muster::summary_to_json(*second) != written) std::abort();
  return 0;
}
