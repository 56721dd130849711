#include "report/progress.h"

#include <chrono>
#include <fcntl.h>
#include <pty.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/terminal.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProgressState half() {
  ProgressState state;
  state.title = "simulate";
  state.unit = "jobs";
  state.done = 41000;
  state.total = 82000;
  state.fraction = 0.5;
  state.elapsed = 2;
  state.left = TimeLeft::Answer{2, false};
  return state;
}

TEST(ProgressLine, TellsShareRateAndTimeLeft) {
  const std::string line = progress_line(half(), 100, true);
  EXPECT_THAT(line, HasSubstr("simulate"));
  EXPECT_THAT(line, HasSubstr(" 50 %"));
  EXPECT_THAT(line, HasSubstr("41,000 jobs"));
  EXPECT_THAT(line, HasSubstr("20 k jobs/s"));
  EXPECT_THAT(line, HasSubstr("2 s left"));
  EXPECT_THAT(line, HasSubstr("█████"));
  EXPECT_LT(display_width(line), 100U);
}

TEST(ProgressLine, NeverWraps) {
  for (int width = 1; width < 120; ++width) {
    EXPECT_LE(display_width(progress_line(half(), width, true)),
              static_cast<std::size_t>(std::max(width - 1, 1)));
  }
}

TEST(ProgressLine, CountsRunsOfASweep) {
  ProgressState state = half();
  state.tasks = 8;
  state.tasks_done = 3;
  EXPECT_THAT(progress_line(state, 0, false), HasSubstr("3/8 runs"));
}

TEST(ProgressLine, NamesTheRunThatTakesLong) {
  ProgressState state = half();
  state.tasks = 8;
  state.at_work = "pollux";
  state.left = TimeLeft::Answer{300, true};
  EXPECT_THAT(progress_line(state, 0, false), HasSubstr("0/8 runs  at pollux"));
  EXPECT_THAT(progress_line(state, 0, false), HasSubstr("over 5 min left"));
  state.at_work = "a name that is longer than a line of a terminal has room for";
  EXPECT_THAT(progress_line(state, 0, false), HasSubstr("at a name that is longer than… "));
}

TEST(ProgressLine, PromisesNothingWhereTheTotalIsUnknown) {
  ProgressState state = half();
  state.total = 0;
  state.fraction = 0;
  state.left.reset();
  const std::string line = progress_line(state, 100, true);
  EXPECT_THAT(line, Not(HasSubstr("%")));
  EXPECT_THAT(line, Not(HasSubstr("left")));
}

std::string read_all(int descriptor) {
  std::string text;
  char block[4096];
  ssize_t count = 0;
  while ((count = ::read(descriptor, block, sizeof block)) > 0)
    text.append(block, static_cast<std::size_t>(count));
  return text;
}

TEST(Progress, WritesPlainLinesIntoAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    Progress progress({.title = "sweep", .descriptor = ends[1], .plain_every = 0.05});
    ProgressTask& task = progress.task("a", 100);
    std::optional<ProgressTask::Part> quick(std::in_place, &task, "quick run");
    const ProgressTask::Part slow(&task, "slow run");
    task.advance(40);
    quick.reset();
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
  }
  ::close(ends[1]);
  const std::string text = read_all(ends[0]);
  ::close(ends[0]);
  EXPECT_THAT(text, HasSubstr("sweep"));
  EXPECT_THAT(text, HasSubstr(" 40 %"));
  EXPECT_THAT(text, HasSubstr("sweep  at slow run"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(Progress, SaysNothingAboutShortWorkInAPipeOrWhenQuiet) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    Progress progress({.title = "short", .descriptor = ends[1]});
    progress.task("a", 10).advance(10);
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  {
    Progress progress({.title = "quiet", .descriptor = ends[1], .quiet = true, .plain_every = 0});
    progress.task("a", 10).advance(10);
    progress.say("unheard");
  }
  ::close(ends[1]);
  EXPECT_EQ(read_all(ends[0]), "");
  ::close(ends[0]);
}

TEST(Progress, CleansUpAfterItselfOnATerminal) {
  int master = -1;
  int terminal = -1;
  if (::openpty(&master, &terminal, nullptr, nullptr, nullptr) != 0)
    GTEST_SKIP() << "no pseudo-terminal here";
  {
    Progress progress({.title = "compare", .descriptor = terminal, .first_after = 0});
    ProgressTask& first = progress.task("a", 100);
    ProgressTask& second = progress.task("b", 100);
    std::vector<std::thread> workers;
    for (ProgressTask* task : {&first, &second}) {
      workers.emplace_back([task] {
        for (int i = 0; i < 100; ++i) task->advance(1);
        task->finish();
      });
    }
    for (std::thread& worker : workers) worker.join();
    std::this_thread::sleep_for(std::chrono::milliseconds(350));
    progress.say("a line of its own");
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
  ::fcntl(master, F_SETFL, O_NONBLOCK);
  const std::string text = read_all(master);
  ::close(terminal);
  ::close(master);
  EXPECT_THAT(text, HasSubstr("2/2 runs"));
  EXPECT_THAT(text, HasSubstr("100 %"));
  EXPECT_THAT(text, HasSubstr("\r\x1b[Ka line of its own"));
  EXPECT_EQ(text.substr(text.size() - 4), "\r\x1b[K")
      << "the last thing it does is to remove its line";
}

}  // namespace
}  // namespace muster
