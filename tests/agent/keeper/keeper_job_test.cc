// Jobs that speak the job protocol under a real keeper: the client in Python and the header in C++.
#include <cstdlib>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/keeper/live_keeper.h"
#include "support/paths.h"

namespace muster {
namespace {

using testing::HasSubstr;

constexpr const char* kPythonTrainer = R"py(
import sys, time, muster_job
def load():
    try:
        return int(open(sys.argv[1]).read())
    except FileNotFoundError:
        return 0
def save(completed):
    if job.rank == 0:
        with open(sys.argv[1], "w") as file:
            file.write(str(completed))
    print("left", completed, flush=True)
job = muster_job.join(save=save)
print("from", load(), "of", job.world_size, "ranks", flush=True)
for step in job.steps(load(), total=int(sys.argv[2])):
    time.sleep(float(sys.argv[3]) / 1e3)
    job.report(loss=1 / (step + 1))
print("done", sys.argv[2], flush=True)
)py";

std::vector<std::string> command(bool python, const TemporaryFolder& folder, long long total) {
  const std::string checkpoint = (folder.path() / "checkpoint").string();
  if (!python) {
    return {program_path("trainer").string(), checkpoint, std::to_string(total), "1"};
  }
  folder.write("train.py", kPythonTrainer);
  return {"python3", (folder.path() / "train.py").string(), checkpoint, std::to_string(total), "1"};
}

class KeeperJob : public testing::TestWithParam<bool> {
 protected:
  KeeperOrder order(long long total, int ranks, std::uint32_t launch) {
    KeeperOrder made = simple_order(folder_.path(), command(GetParam(), folder_, total));
    const char* path = std::getenv("PATH");
    made.environment = {{"PYTHONPATH", (source_dir() / "python").string()},
                        {"PYTHONDONTWRITEBYTECODE", "1"},
                        {"PATH", path == nullptr ? "/usr/bin:/bin" : path}};
    made.launch = launch;
    made.world_size = ranks;
    made.ranks.clear();
    for (int rank = 0; rank < ranks; ++rank) made.ranks.push_back({rank, rank, {}, {}});
    return made;
  }
  std::filesystem::path run_folder(int launch) {
    const std::filesystem::path place = folder_.path() / std::to_string(launch);
    std::filesystem::create_directory(place);
    return place;
  }

  TemporaryFolder folder_;
};

TEST_P(KeeperJob, LeavesAfterOneStepAndGoesOnWithOtherRanks) {
  std::string last;
  {
    LiveKeeper keeper(run_folder(1), order(100'000'000, 3, 1));
    keeper.start();
    // All three have joined and told how they are.
    for (int rank = 0; rank < 3; ++rank) keeper.hear("metric loss");
    keeper.say("stop 20");
    const ExitRecord record = keeper.record();
    EXPECT_EQ(record.outcome, KeeperOutcome::kStopped);
    EXPECT_EQ(record.exit_code, 0);
    EXPECT_GT(record.saved_step, 0);
    EXPECT_EQ(record.step, record.saved_step);
    last = std::to_string(record.saved_step);
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(keeper.log(rank), fmt::format("from 0 of 3 ranks\nleft {}\n", last));
    }
  }
  const long long total = std::stoll(last) + 5;
  LiveKeeper keeper(run_folder(2), order(total, 2, 2));
  keeper.start();
  keeper.hear(fmt::format("done 0 {}", total));
  const ExitRecord record = keeper.record();
  EXPECT_EQ(record.outcome, KeeperOutcome::kFinished);
  EXPECT_EQ(record.step, total);
  EXPECT_EQ(keeper.log(0), fmt::format("from {} of 2 ranks\ndone {}\n", last, total));
}

TEST_P(KeeperJob, LeavesWhenItsLeaseEndsUnrenewed) {
  LiveKeeper keeper(run_folder(1), order(100'000'000, 1, 1));
  keeper.start();
  keeper.hear("step 0");
  keeper.say("lease 0.8");
  keeper.hear("renew");
  keeper.say("lease 2");
  keeper.hear("renew");
  keeper.hear("left 0 ");
  const ExitRecord record = keeper.record();
  EXPECT_EQ(record.outcome, KeeperOutcome::kStopped);
  EXPECT_EQ(record.cause, "its lease ended");
  EXPECT_GE(record.seconds, 2);
}

TEST_P(KeeperJob, FoldersMayHaveLongNames) {
  const std::filesystem::path deep =
      folder_.path() / std::string(120, 'a') / "with space" / std::string(120, 'b');
  std::filesystem::create_directories(deep);
  LiveKeeper keeper(deep, order(3, 1, 1));
  keeper.greet();
  keeper.hear("state ready");
  keeper.say("go");
  keeper.hear("done 0 3");
  EXPECT_EQ(keeper.record().outcome, KeeperOutcome::kFinished);
}

// It is told to stop when its last step is done, and saves its result meanwhile.
KeeperOrder done_and(const TemporaryFolder& folder, const std::string& rest) {
  folder.write("train.py",
               "import signal, sys, time, muster_job\n"
               "job = muster_job.join()\n"
               "for step in job.steps(total=3): pass\n" +
                   rest);
  KeeperOrder made =
      simple_order(folder.path(), {"python3", (folder.path() / "train.py").string()});
  const char* path = std::getenv("PATH");
  made.environment = {{"PYTHONPATH", (source_dir() / "python").string()},
                      {"PYTHONDONTWRITEBYTECODE", "1"},
                      {"PATH", path == nullptr ? "/usr/bin:/bin" : path}};
  return made;
}

TEST(KeeperEnd, AJobThatIsDoneSavesItsResultBeforeItIsStopped) {
  TemporaryFolder folder;
  LiveKeeper keeper(folder.path(), done_and(folder, "time.sleep(1)\nprint('saved', flush=True)\n"));
  keeper.start();
  keeper.hear("done 0 3");
  keeper.say("stop 20");
  EXPECT_EQ(keeper.record().outcome, KeeperOutcome::kFinished);
  EXPECT_EQ(keeper.log(), "saved\n");
}

TEST(KeeperEnd, AJobThatIsDoneAndStaysIsToldBeforeItsGraceIsOver) {
  TemporaryFolder folder;
  LiveKeeper keeper(folder.path(),
                    done_and(folder,
                             "signal.signal(signal.SIGTERM, lambda *_: sys.exit('told'))\n"
                             "time.sleep(60)\n"));
  keeper.start();
  keeper.hear("done 0 3");
  keeper.say("stop 2");
  const ExitRecord record = keeper.record();
  EXPECT_EQ(record.outcome, KeeperOutcome::kStopped);
  EXPECT_EQ(record.saved_step, -1) << "that it is done does not mean that it has saved";
  EXPECT_EQ(keeper.log(), "told\n");
}

INSTANTIATE_TEST_SUITE_P(Clients, KeeperJob, testing::Values(false, true), [](const auto& one) {
  return std::string(one.param ? "Python" : "Header");
});

}  // namespace
}  // namespace muster
