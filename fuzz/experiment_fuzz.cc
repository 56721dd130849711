// Descriptions of published figures (experiments/*/*.toml) and of sweeps: understood or refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "run/experiment/experiment.h"
#include "run/sweep/sweep.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = parse_toml(text, "figure.toml");
  if (!document) return 0;
  (void)parse_experiment(*document, "figure.toml");
  SweepConfig sweep;
  (void)apply_sweep_toml(sweep, *document, "sweep.toml");
  return 0;
}
