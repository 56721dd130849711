#include "daemon/stored_rows.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

template <typename Number>
bool parse_whole(std::string_view text, Number& number, int base) {
  const char* end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, number, base);
  return result.ec == std::errc{} && result.ptr == end;
}

}  // namespace

std::string gpus_text(const GpuSet& gpus) {
  std::string text;
  for (int i = 0; i < gpus.nodes(); ++i) {
    text += fmt::format("{}{}:{:x}", i == 0 ? "" : " ", index(gpus[i].node), gpus[i].mask);
  }
  return text;
}

Result<GpuSet> parse_gpus(std::string_view text) {
  GpuSet gpus;
  if (text.empty()) return gpus;
  for (const std::string_view part : split(text, ' ')) {
    const std::size_t colon = part.find(':');
    std::uint32_t node = 0;
    std::uint64_t mask = 0;
    if (colon == std::string_view::npos || !parse_whole(part.substr(0, colon), node, 10) ||
        !parse_whole(part.substr(colon + 1), mask, 16)) {
      return Error{
          fmt::format("'{}' is not a list of GPUs; expected NODE:MASK with spaces between", text)};
    }
    gpus.add(NodeId{node}, mask);
  }
  return gpus;
}

std::string_view run_outcome_name(RunOutcome outcome) {
  static constexpr std::array<std::string_view, 3> kNames = {"finished", "stopped", "failed"};
  return kNames[static_cast<std::size_t>(outcome)];
}

}  // namespace muster
