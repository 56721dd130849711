#include "daemon/questions.h"

#include <future>

#include <gtest/gtest.h>

namespace muster {
namespace {

using std::chrono::milliseconds;

TEST(Questions, AreAnsweredOneAfterTheOther) {
  std::promise<int> last;
  int count = 0;
  Questions questions(std::chrono::seconds(60));
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(questions.ask([&, i](const Questions::KeepGoing& keep_going) {
      EXPECT_TRUE(keep_going());
      EXPECT_EQ(count++, i);
      if (i == 9) last.set_value(count);
    }));
  }
  EXPECT_EQ(last.get_future().get(), 10);
}

TEST(Questions, GetOnlySoMuchTimeAndSoMuchRoom) {
  std::promise<void> taken_up;
  std::promise<void> done;
  Questions questions(milliseconds(1));
  ASSERT_TRUE(questions.ask([&](const Questions::KeepGoing& keep_going) {
    taken_up.set_value();
    while (keep_going()) std::this_thread::sleep_for(milliseconds(1));
    done.get_future().wait();
  }));
  taken_up.get_future().wait();
  int waiting = 0;
  while (waiting < 1000 && questions.ask([](const Questions::KeepGoing&) {})) ++waiting;
  EXPECT_GT(waiting, 10);
  EXPECT_LT(waiting, 1000) << "there is a bound";
  done.set_value();
}

TEST(Questions, ThatWaitAreDroppedAtTheEnd) {
  std::promise<void> taken_up;
  bool second = false;
  {
    Questions questions(std::chrono::hours(1));
    ASSERT_TRUE(questions.ask([&](const Questions::KeepGoing& keep_going) {
      taken_up.set_value();
      while (keep_going()) std::this_thread::sleep_for(milliseconds(1));
    }));
    ASSERT_TRUE(questions.ask([&](const Questions::KeepGoing&) { second = true; }));
    taken_up.get_future().wait();
  }
  EXPECT_FALSE(second);
}

}  // namespace
}  // namespace muster
