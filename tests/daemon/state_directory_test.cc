#include "daemon/state_directory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

TEST(StateDirectory, HasOneDaemonAtATime) {
  const TemporaryFolder folder;
  const auto first = StateDirectory::open(folder.path() / "state");
  ASSERT_TRUE(first);
  const auto second = StateDirectory::open(folder.path() / "state");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr(std::to_string(getpid())));
}

// A daemon that is killed while it starts a process leaves the lock to that process, until it has
// become its program.
TEST(StateDirectory, WaitsForWhatADeadDaemonWasStarting) {
  const TemporaryFolder folder;
  const pid_t daemon = fork();
  if (daemon == 0) {
    const auto mine = StateDirectory::open(folder.path() / "state");
    if (fork() == 0) {
      usleep(300'000);
      execl("/bin/true", "true", nullptr);
    }
    _exit(mine ? 0 : 1);
  }
  int status = 0;
  waitpid(daemon, &status, 0);
  ASSERT_EQ(status, 0);
  const auto next = StateDirectory::open(folder.path() / "state");
  EXPECT_TRUE(next) << next.error().message;
}

}  // namespace
}  // namespace muster
