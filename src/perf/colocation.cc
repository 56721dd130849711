#include "perf/colocation.h"

#include <algorithm>

namespace muster {
namespace {

class Colocation final : public PerfModel, private WorkloadProfiles {
 public:
  Colocation(ColocationTables tables, const ColocationOptions& options)
      : tables_(std::move(tables)), options_(options) {}

  double rate(const JobSpec& job, const RunContext& context) const override {
    double product = 1;
    for (const JobSpec* other : context.neighbours) {
      product *= co_located_speed(job.model, other->model, context.joined);
    }
    return product;
  }
  PerfKnowledge knowledge() const override { return {.profiles = this}; }

 private:
  const WorkloadProfile* of(Symbol model) const override {
    const auto found = tables_.profiles.find(model);
    return found == tables_.profiles.end() ? nullptr : &found->second;
  }
  // `joined` only matters between two of the same workload, whose two measured speeds differ a bit.
  double co_located_speed(Symbol mine, Symbol theirs, bool joined) const {
    if (tables_.undisturbed.count(mine) > 0 || tables_.undisturbed.count(theirs) > 0) return 1;
    if (const auto found = tables_.pairs.find({mine, theirs}); found != tables_.pairs.end()) {
      const auto& speeds = found->second;
      return mine == theirs && !joined ? speeds.second : speeds.first;
    }
    const WorkloadProfile* a = of(mine);
    const WorkloadProfile* b = of(theirs);
    if (a == nullptr || b == nullptr) return 1 - options_.unknown_loss;
    const double busy = std::max(0.0, a->gpu_util + b->gpu_util - options_.spare);
    return std::max(options_.slowest, 1 - options_.slope * busy);
  }

  ColocationTables tables_;
  ColocationOptions options_;
};

}  // namespace

std::unique_ptr<PerfModel> make_colocation(ColocationTables tables,
                                           const ColocationOptions& options) {
  return std::make_unique<Colocation>(std::move(tables), options);
}

}  // namespace muster
