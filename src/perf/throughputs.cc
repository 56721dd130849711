#include "perf/throughputs.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "perf/throughput_table.h"

namespace muster {
namespace {

// Where the table says that a job cannot run at all it crawls, so that a policy that does not look
// at rates still comes to an end.
constexpr double kCrawl = 1e-3;

class Throughputs final : public PerfModel {
 public:
  Throughputs(ThroughputTable table, int reference, Symbols& symbols)
      : table_(std::move(table)), reference_(reference) {
    for (std::size_t i = 0; i < table_.types().size(); ++i) {
      place(types_, symbols.intern(table_.types()[i])) = static_cast<int>(i);
    }
    for (std::size_t i = 0; i < table_.keys().size(); ++i) {
      const ThroughputTable::Key& key = table_.keys()[i];
      std::vector<int>& sizes = place(keys_, symbols.intern(key.job_type));
      const auto gpus = static_cast<std::size_t>(key.gpus);
      if (sizes.size() <= gpus) sizes.resize(gpus + 1, ThroughputTable::kUnknown);
      sizes[gpus] = static_cast<int>(i);
    }
  }

  double rate(const JobSpec& job, const Footing& footing) const override {
    const int key = key_of(job);
    const int type = type_of(footing);
    if (key == ThroughputTable::kUnknown || type == ThroughputTable::kUnknown) return 1;
    const double alone = table_.alone(reference_, key);
    const double here = steps(type, key, footing);
    return alone > 0 && here > 0 ? here / alone : kCrawl;
  }

  double step_rate(const JobSpec& job, const Footing& footing) const override {
    const int key = key_of(job);
    const int type = type_of(footing);
    if (key == ThroughputTable::kUnknown || type == ThroughputTable::kUnknown) {
      return PerfModel::step_rate(job, footing);
    }
    return steps(type, key, footing);
  }
  bool counts_steps() const override { return true; }

 private:
  template <typename T>
  static T& place(std::vector<T>& by_symbol, Symbol symbol) {
    const auto at = static_cast<std::size_t>(symbol);
    if (by_symbol.size() <= at) {
      if constexpr (std::is_same_v<T, int>) {
        by_symbol.resize(at + 1, ThroughputTable::kUnknown);
      } else {
        by_symbol.resize(at + 1);
      }
    }
    return by_symbol[at];
  }

  int type_of(const Footing& footing) const {
    const auto at = static_cast<std::size_t>(footing.gpu_type);
    return at < types_.size() ? types_[at] : ThroughputTable::kUnknown;
  }
  int key_of(const JobSpec& job) const {
    const auto at = static_cast<std::size_t>(job.model);
    const auto gpus = static_cast<std::size_t>(job.gpus);
    if (at >= keys_.size() || gpus >= keys_[at].size()) return ThroughputTable::kUnknown;
    return keys_[at][gpus];
  }
  // Beside several neighbours nothing was measured; the worst pair stands for the group.
  double steps(int type, int key, const Footing& footing) const {
    double least = kNever;
    for (const JobSpec* neighbour : footing.neighbours) {
      const int other = key_of(*neighbour);
      if (other == ThroughputTable::kUnknown) continue;
      least = std::min(least, table_.pair(type, key, other).mine);
    }
    return least == kNever ? table_.alone(type, key) : least;
  }

  ThroughputTable table_;
  int reference_;
  std::vector<int> types_;              // by symbol
  std::vector<std::vector<int>> keys_;  // by symbol of the job type, then by GPUs
};

}  // namespace

Result<std::unique_ptr<PerfModel>> make_throughputs(const std::string& path,
                                                    const std::string& reference,
                                                    Symbols& symbols) {
  if (path.empty()) {
    return Error{
        "performance model 'throughputs': needs the parameter file, a table such as Gavel's "
        "simulation_throughputs.json (`muster data fetch gavel` brings it)"};
  }
  auto table = ThroughputTable::load(path);
  if (!table) return table.error();
  const int type = table->type(reference);
  if (type == ThroughputTable::kUnknown) {
    const std::vector<std::string_view> known(table->types().begin(), table->types().end());
    return Error{fmt::format("{}: {}", path, unknown_name("GPU type", reference, known))};
  }
  return std::unique_ptr<PerfModel>(
      std::make_unique<Throughputs>(std::move(*table), type, symbols));
}

}  // namespace muster
