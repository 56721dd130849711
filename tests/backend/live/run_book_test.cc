// The table of the run book cell by cell, written down a second time, and what must hold of any
// sequence of events.
#include "backend/live/run_book.h"

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"

namespace muster {
namespace {

// Per cell: the next state, what the executor is told, what the engine is told; '!' marks what
// cannot happen unless a part is broken. '.' is nothing.
constexpr std::string_view kExpected = R"(
state     | granted           | ready             | started           | start failed       | exited             | stop                | overdue          | lost              | seen ready       | seen running      | not seen
planned   | preparing prepare . | aborting kill . ! | aborting kill . ! | planned . . !      | planned . . !      | ended . released    | planned . .      | ended . returned  | aborting kill . !| aborting kill . ! | planned . .
preparing | preparing . . !   | starting go .     | running . started ! | ended . returned  | ended . ended !    | stopping stop .     | aborting kill .  | lost . returned   | starting go .    | running . started !| preparing prepare .
starting  | starting . . !    | starting go .     | running . started | ended . returned   | ended . ended      | stopping stop .     | aborting kill .  | lost . lost       | starting go .    | running . started | lost . lost
running   | running . . !     | running . .       | running . .       | ended . returned ! | ended . ended      | stopping stop .     | running . .      | lost . lost       | running . .      | running . .       | lost . lost
stopping  | stopping . . !    | stopping stop .   | stopping stop .   | ended . released   | ended . released   | stopping stop .     | stopping kill .  | lost . lost       | stopping stop .  | stopping stop .   | lost . lost
aborting  | aborting . . !    | aborting kill .   | aborting kill .   | ended . returned   | ended . ended      | stopping kill .     | aborting kill .  | lost . returned   | aborting kill .  | aborting kill .   | ended . returned
ended     | ended . . !       | ended kill . !    | ended kill . !    | ended . .          | ended . .          | ended . .           | ended . .        | ended . .         | ended kill . !   | ended kill . !    | ended . .
lost      | lost . . !        | lost kill . !     | lost kill . !     | lost . .           | lost . .           | lost . .            | lost . .         | lost . .          | lost kill . !    | lost kill . !     | lost . .
)";

std::string text_of(const RunAnswer& answer) {
  static const std::vector<std::string> commands = {".", "prepare", "go", "stop", "kill"};
  static const std::vector<std::string> news = {".",        "started", "returned",
                                                "released", "ended",   "lost"};
  return fmt::format("{} {} {}{}", run_state_name(answer.next),
                     commands[static_cast<std::size_t>(answer.command)],
                     news[static_cast<std::size_t>(answer.news)], answer.strange ? " !" : "");
}

TEST(RunBook, AnswersEveryEventInEveryState) {
  std::vector<std::string_view> lines = split(trim(kExpected), '\n');
  ASSERT_EQ(lines.size(), kRunStates + 1);
  const std::vector<std::string_view> head = split(lines[0], '|');
  ASSERT_EQ(head.size(), kRunEvents + 1);
  for (std::size_t s = 0; s < kRunStates; ++s) {
    const std::vector<std::string_view> cells = split(lines[s + 1], '|');
    ASSERT_EQ(cells.size(), kRunEvents + 1);
    const auto state = static_cast<RunState>(s);
    EXPECT_EQ(trim(cells[0]), run_state_name(state));
    for (std::size_t e = 0; e < kRunEvents; ++e) {
      const auto event = static_cast<RunEvent>(e);
      EXPECT_EQ(trim(head[e + 1]), run_event_name(event));
      EXPECT_EQ(trim(cells[e + 1]), text_of(run_answer(state, event)))
          << run_state_name(state) << " on " << run_event_name(event);
      // The book itself answers as the table does, and goes where the table says.
      RunBook book;
      ASSERT_TRUE(book.restore({JobId{4}, 2}, state));
      EXPECT_EQ(book.apply({JobId{4}, 2}, event), run_answer(state, event));
      EXPECT_EQ(book.state({JobId{4}, 2}), run_answer(state, event).next);
    }
  }
}

TEST(RunBook, APreemptionFromDecisionToStart) {
  RunBook book;
  const RunId old_run{JobId{1}, 17};
  const RunId new_run{JobId{2}, 18};
  ASSERT_TRUE(book.restore(old_run, RunState::kRunning));
  EXPECT_EQ(book.apply(old_run, RunEvent::kStop).command, RunCommand::kStop);
  ASSERT_TRUE(book.plan(new_run));
  EXPECT_EQ(book.apply(old_run, RunEvent::kExited).news, RunNews::kReleased);
  EXPECT_EQ(book.apply(new_run, RunEvent::kGranted).command, RunCommand::kPrepare);
  EXPECT_EQ(book.apply(new_run, RunEvent::kReady).command, RunCommand::kGo);
  EXPECT_EQ(book.apply(new_run, RunEvent::kStarted).news, RunNews::kStarted);
  EXPECT_EQ(book.apply(new_run, RunEvent::kExited).news, RunNews::kEnded);
  book.forget(new_run);
  EXPECT_FALSE(book.knows(new_run));
}

TEST(RunBook, ALateWordAboutALaunchDoesNotTouchTheNext) {
  RunBook book;
  ASSERT_TRUE(book.restore({JobId{7}, 3}, RunState::kEnded));
  ASSERT_TRUE(book.restore({JobId{7}, 4}, RunState::kRunning));
  EXPECT_EQ(book.apply({JobId{7}, 3}, RunEvent::kExited).news, RunNews::kNone);
  EXPECT_EQ(book.state({JobId{7}, 4}), RunState::kRunning);
  book.forget({JobId{7}, 3});
  EXPECT_EQ(book.apply({JobId{7}, 3}, RunEvent::kExited).news, RunNews::kNone);
  EXPECT_EQ(book.apply({JobId{7}, 3}, RunEvent::kSeenRunning).command, RunCommand::kKill);
  EXPECT_EQ(book.state({JobId{7}, 4}), RunState::kRunning);
}

TEST(RunBook, ALaunchWaitsForTheOneBefore) {
  RunBook book;
  ASSERT_TRUE(book.restore({JobId{7}, 1}, RunState::kRunning));
  ASSERT_TRUE(book.plan({JobId{7}, 2}));
  EXPECT_TRUE(book.must_wait({JobId{7}, 2}));
  EXPECT_FALSE(book.must_wait({JobId{7}, 1}));
  book.apply({JobId{7}, 1}, RunEvent::kStop);
  EXPECT_TRUE(book.must_wait({JobId{7}, 2}));
  book.apply({JobId{7}, 1}, RunEvent::kExited);
  EXPECT_FALSE(book.must_wait({JobId{7}, 2}));
}

TEST(RunBook, RefusesNumbersThatDoNotRise) {
  RunBook book;
  ASSERT_TRUE(book.plan({JobId{7}, 2}));
  EXPECT_FALSE(book.plan({JobId{7}, 2}));
  const Status earlier = book.plan({JobId{7}, 1});
  ASSERT_FALSE(earlier);
  EXPECT_EQ(earlier.error().message,
            "job 7: launch 1 cannot be planned, as the book has launch 2; "
            "launches are numbered upwards");
  EXPECT_TRUE(book.plan({JobId{6}, 9}));
  EXPECT_FALSE(book.restore({JobId{6}, 9}, RunState::kRunning));
}

// Random words for random runs. Told by the answers alone: nothing is started before it was
// prepared, the engine hears of one end per run, and what is over stays over.
TEST(RunBook, RandomWordsNeverEndARunTwice) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed, "run book");
    RunBook book;
    struct Heard {
      bool prepared = false;
      bool stopped = false;
      int ends = 0;
    };
    std::map<RunId, Heard> heard;
    for (std::uint32_t job = 0; job < 4; ++job) {
      const RunId run{JobId{job}, 1};
      ASSERT_TRUE(book.plan(run));
      heard[run];
    }
    for (int step = 0; step < 60; ++step) {
      const RunId run{JobId{static_cast<std::uint32_t>(random.below(4))}, 1};
      const auto event = static_cast<RunEvent>(random.below(kRunEvents));
      const bool was_over = over(book.state(run));
      const RunAnswer answer = book.apply(run, event);
      Heard& about = heard[run];
      if (answer.command == RunCommand::kGo) {
        EXPECT_TRUE(about.prepared && !about.stopped) << "seed " << seed;
      }
      about.prepared |= answer.command == RunCommand::kPrepare;
      about.stopped |= event == RunEvent::kStop;
      const bool end = answer.news != RunNews::kNone && answer.news != RunNews::kStarted;
      about.ends += end ? 1 : 0;
      EXPECT_EQ(end, !was_over && over(book.state(run))) << "seed " << seed;
      EXPECT_LE(about.ends, 1) << "seed " << seed;
      EXPECT_TRUE(!was_over || over(book.state(run))) << "seed " << seed;
      EXPECT_TRUE(answer.news != RunNews::kReleased || about.stopped) << "seed " << seed;
    }
    // Whatever happened: a stop and the executor's word end every run.
    for (const auto& [run, about] : heard) {
      book.apply(run, RunEvent::kStop);
      book.apply(run, RunEvent::kExited);
      EXPECT_TRUE(over(book.state(run))) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace muster
