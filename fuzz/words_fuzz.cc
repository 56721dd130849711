// Short texts of command lines and stored rows: policies with parameters, seeds, points of a sweep,
// weights, sizes, times, targets of HTTP requests, and the GPUs of a run. What can be written is
// read back as it was.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "backend/local/run_folder.h"
#include "daemon/http/http.h"
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
  std::string path;
  std::map<std::string, std::string> query;
  (void)parse_target(text, path, query);
  query.clear();
  // Controls are refused.
  if (parse_target("/v1/jobs?name=" + percent_encoded(text), path, query) &&
      query["name"] != text) {
    std::abort();
  }
  (void)parse_run_folder(text);
  (void)parse_seeds(text);
  (void)parse_points(text, size % 2 == 0);
  (void)parse_weighted(text, "models");
  (void)parse_sizes(text, "sizes");
  return 0;
}
