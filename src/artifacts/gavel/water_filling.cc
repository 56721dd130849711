// Water filling as Gavel's code does it.
#include "policy/gavel/water_filling.h"

#include <algorithm>
#include <cmath>

#include "artifacts/gavel/allocators.h"

namespace muster {
namespace {

// No job is raised by more than the largest entitlement at a time. Where the search for bottlenecks
// fails, which is not noticed, every job is taken for full after the first level (`one_level`).
class WaterFillingAsCoded final : public WaterFilling {
 public:
  WaterFillingAsCoded(const ProgramOptions& options, WaterOptions water, bool one_level)
      : WaterFilling(options, std::move(water)), one_level_(one_level) {}
  std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<WaterFillingAsCoded>(*this);
  }

 protected:
  bool fill(AllocationProgram& program, std::vector<Water>& waters) const override {
    const bool pairs = options().sight == Sight::kPairs;
    return pairs ? fill_pairs(program, waters) : fill_in_steps(program, waters);
  }
  double most_rise(const AllocationProgram& program,
                   const std::vector<Water>& waters) const override {
    double most = 0;
    const bool pairs = options().sight == Sight::kPairs;  // the last digit depends on the order
    for (std::size_t c = 0; c < waters.size(); ++c) {
      const double fair = waters[c].fair;
      const double part = pairs ? program.fastest(c) / fair : program.fastest(c) * (1 / fair);
      most = std::max(most, part * program.job(c).gpus);
    }
    return most;
  }
  bool is_bottleneck(double dual) const override {
    return one_level_ || WaterFilling::is_bottleneck(dual);
  }

 private:
  // Each level follows from the fractions of the one before.
  bool fill_in_steps(AllocationProgram& program, std::vector<Water>& waters) const {
    const double most = most_rise(program, waters);
    bool any = false;
    std::size_t full = 0;
    for (std::size_t before = 1; full != before && full != waters.size();) {
      before = full;
      weigh(program, waters);
      if (!raise(program, waters, most, full)) break;
      any = true;
    }
    return any;
  }

  // With pairs, the number of full jobs is compared with that of jobs and pairs: it goes on when
  // all are full, and solves once more, with nothing to raise. The levels do not matter in the end.
  bool fill_pairs(AllocationProgram& program, std::vector<Water>& waters) const {
    if (!find_levels(program, waters)) return false;
    if (options().solver == solve_at_vertex) return true;
    const double most = most_rise(program, waters);
    AllocationProgram::Objective objective;
    objective.level_cost = -1;
    for (std::size_t c = 0; c < waters.size(); ++c) {
      objective.rows.push_back({c, 0, -most, 1});
      objective.rows.push_back({c, 1 / waters[c].fair, waters[c].level, 0});
    }
    program.solve(objective);
    return true;
  }

  // One level higher; counts the jobs that are full then. False if there is no answer.
  bool raise(AllocationProgram& program, std::vector<Water>& waters, double most,
             std::size_t& full) const {
    AllocationProgram::Objective objective;
    objective.level_cost = -1;
    struct Rising {
      std::size_t row;
      std::size_t of_class;
      double scale;
    };
    std::vector<Rising> rising;
    for (std::size_t c = 0; c < waters.size(); ++c) {
      const Water& water = waters[c];
      if (!water.full && water.weight > 0) {
        const double scale = 1 / water.weight * program.job(c).gpus;
        rising.push_back({objective.rows.size(), c, scale});
        objective.rows.push_back({c, scale / water.fair, scale * water.level, 1});
      } else {
        objective.rows.push_back({c, 0, -most, 1});
      }
      objective.rows.push_back({c, 1 / water.fair, water.level, 0});  // no job falls
    }
    const AllocationProgram::Answer answer = program.solve(objective);
    if (answer.status != SolveStatus::kOptimal) return false;
    // The level that the fractions reach: levels to come are sensitive to its last digits.
    double level = rising.size() < waters.size() ? most : HUGE_VAL;
    for (const Rising& one : rising) {
      const Water& water = waters[one.of_class];
      const double now = answer.throughput[one.of_class] * (1 / water.fair);
      level = std::min(level, (now - water.level) * one.scale);
    }
    for (const Rising& one : rising) {
      Water& water = waters[one.of_class];
      water.level += 1 / one.scale * level;
      constexpr double kNoDual = 1e-10;
      if (one_level_ || answer.duals[one.row] > std::max(kNoDual, answer.slack[one.row])) {
        water.full = true;
        ++full;
      }
    }
    return true;
  }

  bool one_level_;
};

}  // namespace

std::unique_ptr<Allocator> make_water_filling_as_coded(const ProgramOptions& options,
                                                       const WaterOptions& water, bool one_level) {
  return std::make_unique<WaterFillingAsCoded>(options, water, one_level);
}

}  // namespace muster
