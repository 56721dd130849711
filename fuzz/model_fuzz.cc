// Model files from anywhere: a model is refused, or can be asked, written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "learn/model_file.h"

namespace {

// Of numbers the value, of categories the first, or a missing one.
std::vector<double> row_of(const muster::FeatureSet& features, double value) {
  std::vector<double> row(features.size(), value);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!features[i].categorical) continue;
    row[i] = value < 0 || features[i].categories.empty() ? std::nan("") : 0;
  }
  return row;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto model = muster::ebm_of(text, "model.json")) {
    for (const double value : {0.0, -1e300, 1e300, std::nan("")}) {
      (void)model->explain(row_of(model->features, value));
    }
    const std::string written = muster::to_text(*model);
    const auto again = muster::ebm_of(written, "model.json");
    if (!again || muster::to_text(*again) != written) std::abort();
  }
  if (const auto model = muster::tree_of(text, "model.json")) {
    for (const double value : {0.0, -1e300, 1e300, std::nan("")}) {
      (void)model->predict(row_of(model->features, value));
    }
    const std::string written = muster::to_text(*model);
    const auto again = muster::tree_of(written, "model.json");
    if (!again || muster::to_text(*again) != written) std::abort();
  }
  return 0;
}
