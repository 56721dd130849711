#include "daemon/progress_meter.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

ProgressReport at(std::uint32_t launch, double step) {
  ProgressReport report;
  report.run = {JobId{1}, launch};
  report.step = step;
  report.total = 100;
  return report;
}

TEST(ProgressMeter, MeasuresFromTheFirstStepOfALaunchOn) {
  ProgressMeter meter;
  meter.hear(at(1, 0), 0);
  meter.hear(at(1, 1), 5);  // it has loaded and compiled for five seconds
  EXPECT_FALSE(meter.knows_total());
  meter.hear(at(1, 5), 7);
  ASSERT_TRUE(meter.knows_total());
  EXPECT_DOUBLE_EQ(meter.news().steps_per_second, 2);
  EXPECT_DOUBLE_EQ(meter.total_work(), 50);
  EXPECT_DOUBLE_EQ(meter.work_of(5, 50), 2.5);
}

TEST(ProgressMeter, ALaunchThatHardlyBeganDoesNotChangeTheSpeed) {
  ProgressMeter meter;
  meter.hear(at(1, 0), 0);
  meter.hear(at(1, 2), 1);
  meter.hear(at(1, 42), 11);
  meter.hear(at(2, 42), 30);
  meter.hear(at(2, 43), 32);  // and is stopped again
  EXPECT_DOUBLE_EQ(meter.news().steps_per_second, 4);
  meter.hear(at(3, 43), 50);
  meter.hear(at(3, 44), 51);
  meter.hear(at(3, 54), 53);
  EXPECT_DOUBLE_EQ(meter.news().steps_per_second, 5);
}

TEST(ProgressMeter, AJobThatGoesBackIsMeasuredAnew) {
  ProgressMeter meter;
  meter.hear(at(1, 10), 0);
  meter.hear(at(1, 20), 1);
  meter.hear(at(1, 5), 2);
  meter.hear(at(1, 6), 3);
  EXPECT_FALSE(meter.knows_total());
  meter.hear(at(1, 9), 4);
  EXPECT_DOUBLE_EQ(meter.news().steps_per_second, 3);
}

TEST(ProgressMeter, AnEndThatTakesLongDoesNotSlowTheStepsDown) {
  ProgressMeter meter;
  meter.hear(at(1, 0), 0);
  meter.hear(at(1, 10), 1);
  EXPECT_FALSE(meter.all_done());
  meter.hear(at(1, 100), 11);
  EXPECT_TRUE(meter.all_done());
  meter.hear(at(1, 100), 100);  // a metric of its evaluation
  EXPECT_DOUBLE_EQ(meter.news().steps_per_second, 9);
}

}  // namespace
}  // namespace muster
