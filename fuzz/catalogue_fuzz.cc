// The catalogue of public data: a file in it never leads out of the data folder.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workload/data/catalogue.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto catalogue = muster::parse_catalogue(text, "catalogue.toml");
  if (!catalogue) return 0;
  for (const muster::DataSet& set : catalogue->sets) {
    for (const muster::DataFile& file : set.files) {
      const std::string_view path = file.path;
      if (path.empty() || path.front() == '/' || path == ".." || path.starts_with("../") ||
          path.find("/../") != std::string_view::npos || path.ends_with("/..")) {
        std::abort();
      }
    }
  }
  return 0;
}
