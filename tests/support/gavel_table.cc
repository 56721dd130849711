#include "support/gavel_table.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace muster {
namespace {

struct Kind {
  std::string name;
  double speed;   // steps per second on one v100
  double hunger;  // how much of a GPU it takes
};

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  const auto family = [&all](const std::string& name, int first, int count, double speed,
                             double hunger) {
    for (int i = 0; i < count; ++i) {
      const int size = first << i;
      all.push_back({fmt::format("{} (batch size {})", name, size), speed / (1 + 0.6 * i),
                     std::min(1.0, hunger + 0.08 * i)});
    }
  };
  family("ResNet-18", 16, 5, 28, 0.5);
  family("ResNet-50", 16, 4, 11, 0.7);
  family("Transformer", 16, 5, 12, 0.4);
  family("LM", 5, 5, 110, 0.3);
  family("Recommendation", 512, 5, 20, 0.2);
  all.push_back({"A3C", 4, 0.15});
  all.push_back({"CycleGAN", 4.4, 0.9});
  return all;
}

}  // namespace

std::string gavel_table_json() {
  const std::vector<Kind> all = kinds();
  std::string out = "{";
  const std::pair<std::string, double> types[] = {{"v100", 1}, {"p100", 0.55}, {"k80", 0.2}};
  for (const auto& [type, part] : types) {
    out += fmt::format("{}\"{}\": {{", out.size() > 1 ? ", " : "", type);
    bool first = true;
    for (const Kind& mine : all) {
      for (const int gpus : {1, 2, 4, 8}) {
        // Fast jobs lose more on slow GPUs, so that types are not the same for everybody.
        const double speed = mine.speed * std::pow(part, 0.5 + mine.hunger) * std::pow(gpus, 0.9);
        out += fmt::format("{}\"('{}', {})\": {{\"null\": {:.6f}", first ? "" : ", ", mine.name,
                           gpus, speed);
        first = false;
        for (const Kind& other : all) {
          if (gpus > 1) break;
          const double other_speed = other.speed * std::pow(part, 0.5 + other.hunger);
          const double kept = 1 / std::max(1.0, mine.hunger + other.hunger);
          out += fmt::format(", \"('{}', 1)\": [{:.6f}, {:.6f}]", other.name, speed * kept,
                             other_speed * kept);
        }
        out += "}";
      }
    }
    out += "}";
  }
  return out + "}";
}

}  // namespace muster
