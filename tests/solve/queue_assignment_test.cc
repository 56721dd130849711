#include "solve/queue_assignment.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "solve/assignment.h"

namespace muster {
namespace {

std::vector<std::size_t> assign_plainly(const std::vector<double>& runs,
                                        const std::vector<double>& anywhere, std::size_t queues) {
  const std::size_t jobs = anywhere.size();
  std::vector<double> costs;
  for (std::size_t i = 0; i < jobs; ++i) {
    for (std::size_t place = 0; place < jobs; ++place) {
      for (std::size_t q = 0; q < queues; ++q) {
        costs.push_back(static_cast<double>(place + 1) * runs[i * queues + q] + anywhere[i]);
      }
    }
  }
  return assign_rows(costs, jobs, jobs * queues);
}

// Queues of few kinds and run times of few lengths, so that ties are common.
TEST(QueueAssignment, AsTheGeneralOneWithTies) {
  Random random(11, "queues");
  for (int trial = 0; trial < 3000; ++trial) {
    const auto jobs = static_cast<std::size_t>(random.integer(1, 24));
    const auto queues = static_cast<std::size_t>(random.integer(1, 7));
    const bool drawn = random.unit() < 0.5;
    const bool idle = random.unit() < 0.1;  // some have nothing to do: places cost the same
    std::vector<int> kind;
    for (std::size_t q = 0; q < queues; ++q) {
      kind.push_back(static_cast<int>(random.integer(0, 2)));
    }
    std::vector<double> runs;
    std::vector<double> anywhere;
    for (std::size_t i = 0; i < jobs; ++i) {
      const double steps =
          drawn ? 1e5 * random.unit() + 1 : static_cast<double>(random.integer(idle ? 0 : 1, 4));
      const double rates[] = {1, 1 + random.unit(), drawn ? 0.1 + random.unit() : 2};
      for (std::size_t q = 0; q < queues; ++q) runs.push_back(steps / rates[kind[q]]);
      anywhere.push_back(drawn ? 1e6 * random.unit() : static_cast<double>(random.integer(0, 3)));
    }
    ASSERT_EQ(assign_to_queues(runs, anywhere, queues), assign_plainly(runs, anywhere, queues))
        << "trial " << trial;
  }
}

TEST(QueueAssignment, NoJobsNoPlaces) { EXPECT_TRUE(assign_to_queues({}, {}, 3).empty()); }

}  // namespace
}  // namespace muster
