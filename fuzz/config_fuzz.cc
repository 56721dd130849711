// The description of a run: it is understood or refused; what was completed and written out reads
// back to the same description.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "run/config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = parse_toml(text, "run.toml");
  if (!document) return 0;
  RunConfig config;
  if (!apply_toml(config, *document, "run.toml")) return 0;
  const auto complete = complete_config(std::move(config));
  if (!complete) return 0;
  const std::string written = to_toml(*complete);
  const auto again = parse_toml(written, "run.toml");
  if (!again) std::abort();
  RunConfig reread;
  if (!apply_toml(reread, *again, "run.toml")) std::abort();
  const auto completed_again = complete_config(std::move(reread));
  if (!completed_again || to_toml(*completed_again) != written) std::abort();
  return 0;
}
