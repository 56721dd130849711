// Short texts of command lines and stored rows: policies with parameters, seeds, points of a sweep,
// weights, sizes, times, and the GPUs of a run. What can be written is read back as it was.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/stored_rows.h"
#include "run/config/choice.h"
#include "run/sweep/sweep.h"
#include "workload/generate/synthetic.h"
#include "workload/timestamp.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto choice = parse_choice(text, "policy")) {
    const auto again = parse_choice(choice->text(), "policy");
    if (!again || again->name != choice->name || again->params != choice->params) std::abort();
  }
  if (const auto gpus = parse_gpus(text)) {
    const auto again = parse_gpus(gpus_text(*gpus));
    if (!again || !(*again == *gpus)) std::abort();
  }
  Seconds time = 0;
  if (read_timestamp(text, time) && time >= 0 && time < 2e11) {
    Seconds again = 0;
    if (!read_timestamp(timestamp_text(std::floor(time)), again) || again != std::floor(time)) {
      std::abort();
    }
  }
  (void)parse_seeds(text);
  (void)parse_points(text, size % 2 == 0);
  (void)parse_weighted(text, "models");
  (void)parse_sizes(text, "sizes");
  return 0;
}
