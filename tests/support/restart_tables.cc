#include "support/restart_tables.h"

#include <array>
#include <string_view>

namespace muster {
namespace {

constexpr std::array<int, 6> kGpus = {1, 2, 4, 8, 16, 32};

struct MeasuredStart {
  std::string_view model;
  std::array<int, 6> seconds;
};

constexpr std::array<MeasuredStart, 8> kMuri = {{
    {"vgg16", {7, 7, 8, 9, 9, 10}},
    {"vgg19", {7, 7, 8, 9, 10, 10}},
    {"resnet18", {4, 5, 5, 7, 7, 7}},
    {"shufflenet_v2_x1_0", {4, 4, 5, 5, 7, 8}},
    {"bert", {10, 10, 10, 10, 10, 10}},
    {"gpt2", {10, 10, 10, 10, 10, 10}},
    {"a2c", {38, 39, 39, 46, 46, 46}},
    {"dqn", {5, 5, 6, 6, 8, 8}},
}};

}  // namespace

RestartCost muri_restart_cost(Symbols& symbols) {
  RestartCost cost;
  cost.first_start = cost.restart = 10;
  for (const MeasuredStart& row : kMuri) {
    const Symbol model = symbols.intern(row.model);
    for (std::size_t i = 0; i < kGpus.size(); ++i) {
      cost.by_model[{model, kGpus[i]}] = row.seconds[i];
    }
  }
  return cost;
}

}  // namespace muster
