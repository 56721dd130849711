#include "perf/throughputs.h"

#include <algorithm>
#include <mutex>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "perf/throughput_estimate.h"
#include "perf/throughput_table.h"

namespace muster {
namespace {

// Where the table says that a job cannot run at all it crawls, so that a policy that does not look
// at rates still comes to an end.
constexpr double kCrawl = 1e-3;

class Throughputs : public PerfModel {
 public:
  Throughputs(ThroughputTable table, int reference, Symbols& symbols)
      : table_(std::move(table)), reference_(reference), symbols_(symbols) {
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

  double rate(const JobSpec& job, const RunContext& context) const override {
    const int key = key_of(job);
    if (as_recorded(key, context)) return 1;
    const double alone = table_.alone(reference_, key);
    const double here = steps_per_second(type_of(context), key, job, context);
    return alone > 0 && here > 0 ? here / alone : kCrawl;
  }

  double step_rate(const JobSpec& job, const RunContext& context) const override {
    const int key = key_of(job);
    if (as_recorded(key, context)) return PerfModel::step_rate(job, context);
    return steps_per_second(type_of(context), key, job, context);
  }
  bool counts_steps() const override { return true; }
  // A job without a type runs as recorded; one with a type must be in the table.
  Status check(const JobSpec& job) const override {
    if (job.model == kNoSymbol || key_of(job) != ThroughputTable::kUnknown) return Done{};
    const auto at = static_cast<std::size_t>(job.model);
    std::string sizes;
    for (std::size_t gpus = 0; at < keys_.size() && gpus < keys_[at].size(); ++gpus) {
      if (keys_[at][gpus] == ThroughputTable::kUnknown) continue;
      sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", gpus);
    }
    return Error{
        fmt::format("job '{}': its type '{}' on {} GPUs is not in the table of throughputs; {}",
                    display_name(job), symbols_.text(job.model), job.gpus,
                    sizes.empty() ? "the table does not know the type at all"
                                  : "the table has it on " + sizes + " GPUs")};
  }
  bool knows_nothing_of(const JobSpec& job) const override {
    return key_of(job) == ThroughputTable::kUnknown;
  }

 protected:
  const ThroughputTable& table() const { return table_; }
  int key_of(const JobSpec& job) const {
    const auto at = static_cast<std::size_t>(job.model);
    const auto gpus = static_cast<std::size_t>(job.gpus);
    if (at >= keys_.size() || gpus >= keys_[at].size()) return ThroughputTable::kUnknown;
    return keys_[at][gpus];
  }
  // Steps per second of `job` when co-located with `neighbour`; the table knows both.
  virtual double co_located_rate(int type, const JobSpec& job, const JobSpec& neighbour) const {
    return table_.pair(type, key_of(job), key_of(neighbour)).mine;
  }

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

  int type_of(const RunContext& context) const {
    const auto at = static_cast<std::size_t>(context.gpu_type);
    return at < types_.size() ? types_[at] : ThroughputTable::kUnknown;
  }
  // Jobs without a type, and GPUs without one, are beyond the table. A type of GPUs that it does
  // not know is another matter: it is unknown whether a job runs there.
  static bool as_recorded(int key, const RunContext& context) {
    return key == ThroughputTable::kUnknown || context.gpu_type == kNoSymbol;
  }
  // With several co-located jobs nothing was measured; the worst pair stands for the group.
  double steps_per_second(int type, int key, const JobSpec& job, const RunContext& context) const {
    if (type == ThroughputTable::kUnknown) return 0;
    double least = kNever;
    for (const JobSpec* neighbour : context.neighbours) {
      if (key_of(*neighbour) == ThroughputTable::kUnknown) continue;
      least = std::min(least, co_located_rate(type, job, *neighbour));
    }
    return least == kNever ? table_.alone(type, key) : least;
  }

  ThroughputTable table_;
  int reference_;
  const Symbols& symbols_;
  std::vector<int> types_;              // by symbol
  std::vector<std::vector<int>> keys_;  // by symbol of the job type, then by GPUs
};

// The same with the speeds of pairs estimated. Every job is profiled once, when it is first asked
// about; what its profile holds depends on the seed and the job alone.
class EstimatedThroughputs final : public Throughputs {
 public:
  EstimatedThroughputs(ThroughputTable table, int reference, Symbols& symbols,
                       const PairEstimateOptions& options)
      : Throughputs(std::move(table), reference, symbols),
        estimator_(this->table(), measured_types(this->table()), options),
        seed_(options.seed) {}

 protected:
  double co_located_rate(int type, const JobSpec& job, const JobSpec& neighbour) const override {
    return estimator_.pair(type, key_of(job), match(job), key_of(neighbour), match(neighbour)).mine;
  }

 private:
  // Types with a measured pair: speeds across servers were measured for single jobs only.
  static std::vector<int> measured_types(const ThroughputTable& table) {
    std::vector<int> types;
    for (std::size_t t = 0; t < table.types().size(); ++t) {
      if (table.types()[t].ends_with("_unconsolidated")) continue;
      types.push_back(static_cast<int>(t));
    }
    return types;
  }
  int match(const JobSpec& job) const {
    const std::lock_guard lock(mutex_);
    const auto found = matches_.find(job.id);
    if (found != matches_.end()) return found->second;
    Random random(seed_ + index(job.id), "profile of a job");
    const int matched = estimator_.match(key_of(job), random);
    matches_.emplace(job.id, matched);
    return matched;
  }

  ThroughputEstimator estimator_;
  std::uint64_t seed_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<JobId, int> matches_;
};

}  // namespace

std::unique_ptr<PerfModel> make_throughputs(ThroughputTable table, int reference,
                                            Symbols& symbols) {
  return std::make_unique<Throughputs>(std::move(table), reference, symbols);
}

std::unique_ptr<PerfModel> make_estimated_throughputs(ThroughputTable table, int reference,
                                                      const PairEstimateOptions& options,
                                                      Symbols& symbols) {
  return std::make_unique<EstimatedThroughputs>(std::move(table), reference, symbols, options);
}

}  // namespace muster
