// The measured speeds of `throughput-tables`, with the largest job sizes of ElasticFlow's artifact.
#include "artifacts/elasticflow/throughput_caps.h"

#include <algorithm>

namespace muster {
namespace {

constexpr int kLargestJob = 64;

}  // namespace

int cap_of_a100_tables(std::string_view model, int batch, const ThroughputCurve& /*curve*/) {
  if (model == "deepspeech2") return batch;
  if (model == "gpt2" && batch == 128) return 16;
  if (model == "gpt2" && batch == 256) return 32;
  if (model == "bert") return batch == 64 ? 8 : 16;
  if (model == "inception3" && batch == 64) return 16;
  if (model == "inception3" && batch == 128) return 32;
  if ((model == "resnet50" || model == "vgg16") && batch == 64) return 32;
  return std::min(batch, kLargestJob);
}

int cap_of_t4_tables(std::string_view model, int batch, const ThroughputCurve& /*curve*/) {
  if (model == "bert" || model == "cifar10") return 16;
  if (model == "deepspeech2" && batch == 320) return 32;
  if (model == "yolov3") return 4;
  if (model == "ncf") return 1;
  return kLargestJob;
}

PerfInfo throughput_tables_as_coded_row() {
  return {
      "throughput-tables-as-coded",
      "as throughput-tables, with the largest job sizes of ElasticFlow's artifact",
      "ElasticFlow, 2023",
      {{"folder", ParamKind::kText, "", "holds one <model>.csv per model; see docs/elasticflow.md"},
       {"gpus",
        ParamKind::kText,
        "a100",
        "which of the artifact's tables the folder holds",
        -1,
        1,
        {"a100", "t4"}}},
      [](const Params& params, Symbols& symbols) {
        return load_throughput_tables(
            params.text("folder"),
            params.text("gpus") == "t4" ? cap_of_t4_tables : cap_of_a100_tables, symbols);
      }};
}

}  // namespace muster
