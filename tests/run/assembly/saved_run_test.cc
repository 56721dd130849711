// Saved runs on disk: what was damaged is not taken for a run.
#include "run/assembly/saved_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/out_file.h"
#include "run/assembly/simulation.h"
#include "run/config/load_config.h"
#include "run/whatif/saved_state.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

RunConfig small_run() {
  RunConfig config;
  config.cluster.shape = "2x4";
  config.scheduling.name = "las";
  config.workload.generator = {"poisson", {{"jobs", "20"}, {"load", "3"}, {"cluster_gpus", "8"}}};
  auto complete = complete_config(std::move(config));
  EXPECT_TRUE(complete) << complete.error().message;
  return std::move(*complete);
}

class SavedRun : public ::testing::Test {
 protected:
  void SetUp() override {
    auto simulation = Simulation::make(config_);
    ASSERT_TRUE(simulation) << simulation.error().message;
    (*simulation)->save({.at_job = 12, .file = file_});
    ASSERT_TRUE((*simulation)->run());
    auto bytes = read_file(file_);
    ASSERT_TRUE(bytes);
    bytes_ = *bytes;
  }
  // Whether a run goes on from these bytes.
  Status continued(const std::string& bytes) {
    EXPECT_TRUE(replace_file(file_, bytes));
    auto simulation = Simulation::make(config_);
    (*simulation)->save({.continue_from = file_});
    const auto ended = (*simulation)->run();
    if (!ended) return ended.error();
    return Done{};
  }

  TemporaryFolder folder_;
  std::string file_ = (folder_.path() / "saved").string();
  RunConfig config_ = small_run();
  std::string bytes_;
};

TEST_F(SavedRun, GoesOnAsItWasWritten) {
  EXPECT_TRUE(continued(bytes_));
  EXPECT_TRUE(SavedState::open(file_));
}

// The file that a description names may hold other jobs by now.
TEST_F(SavedRun, IsRefusedWithAnotherWorkload) {
  const std::string trace = (folder_.path() / "jobs.csv").string();
  const auto write = [&](int first_duration, int last_duration) {
    std::string text = "job_id,submit_s,duration_s,gpus\n";
    for (int job = 0; job < 20; ++job) {
      const int duration = job == 0 ? first_duration : job == 19 ? last_duration : 100;
      text += fmt::format("j{},{},{},1\n", job, 10 * job, duration);
    }
    ASSERT_TRUE(replace_file(trace, text));
  };
  RunConfig config;
  config.cluster.shape = "2x4";
  config.scheduling.name = "las";
  config.workload.trace = trace;
  auto complete = complete_config(std::move(config));
  ASSERT_TRUE(complete) << complete.error().message;
  config_ = *complete;
  write(100, 100);
  SetUp();
  write(100, 200);
  EXPECT_TRUE(continued(bytes_)) << "a job that had not come may be another";
  write(101, 100);
  const Status went_on = continued(bytes_);
  ASSERT_FALSE(went_on);
  EXPECT_THAT(went_on.error().message, HasSubstr("some are different in the workload now"));
  EXPECT_FALSE(SavedState::open(file_));
}

TEST_F(SavedRun, IsRefusedWithAnyBitChanged) {
  for (std::size_t at = 0; at < bytes_.size(); at += 37) {
    std::string damaged = bytes_;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    const Status went_on = continued(damaged);
    ASSERT_FALSE(went_on) << "byte " << at << " of " << bytes_.size();
    EXPECT_THAT(went_on.error().message,
                HasSubstr(at < 8 ? "is not a saved run" : "is damaged or cut off"));
    EXPECT_FALSE(SavedState::open(file_)) << "byte " << at;
  }
}

TEST_F(SavedRun, IsRefusedWhereItIsCutOffOrGoesOn) {
  for (const std::size_t length : {bytes_.size() - 1, bytes_.size() / 2, std::size_t{80}}) {
    EXPECT_FALSE(continued(bytes_.substr(0, length))) << length;
  }
  EXPECT_FALSE(continued(bytes_ + "x"));
}

}  // namespace
}  // namespace muster
