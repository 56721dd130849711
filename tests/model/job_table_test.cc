#include "model/job_table.h"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

constexpr JobState kAllStates[] = {JobState::kSubmitted, JobState::kQueued,   JobState::kRunning,
                                   JobState::kPreempted, JobState::kFinished, JobState::kFailed,
                                   JobState::kRefused,   JobState::kCancelled};

std::vector<std::uint32_t> ids(const JobTable& table, const SlotList& list) {
  std::vector<std::uint32_t> found;
  for (const Slot slot : list) found.push_back(static_cast<std::uint32_t>(table[slot].spec.id));
  return found;
}

Slot add(JobTable& table, std::uint32_t id) {
  JobSpec spec;
  spec.id = JobId{id};
  return table.add(spec);
}

TEST(LifeCycle, HasExactlyTheseSteps) {
  const std::map<JobState, std::vector<JobState>> steps = {
      {JobState::kSubmitted,
       {JobState::kQueued, JobState::kRefused, JobState::kPreempted, JobState::kFinished,
        JobState::kCancelled}},
      {JobState::kQueued,
       {JobState::kRunning, JobState::kRefused, JobState::kFinished, JobState::kSubmitted,
        JobState::kCancelled}},
      {JobState::kRunning,
       {JobState::kPreempted, JobState::kFinished, JobState::kFailed, JobState::kQueued,
        JobState::kCancelled}},
      {JobState::kPreempted,
       {JobState::kRunning, JobState::kFailed, JobState::kFinished, JobState::kSubmitted,
        JobState::kCancelled}},
      {JobState::kFinished, {}},
      {JobState::kFailed, {}},
      {JobState::kRefused, {}},
      {JobState::kCancelled, {}},
  };
  for (const JobState from : kAllStates) {
    for (const JobState to : kAllStates) {
      const auto& allowed = steps.at(from);
      EXPECT_EQ(may_follow(from, to),
                std::find(allowed.begin(), allowed.end(), to) != allowed.end())
          << job_state_name(from) << " to " << job_state_name(to);
    }
  }
}

TEST(JobTable, ListsFollowTheLifeCycle) {
  JobTable table;
  const Slot first = add(table, 0);
  const Slot second = add(table, 1);
  EXPECT_TRUE(table.active().empty());
  table.set_state(first, JobState::kQueued);
  table.set_state(second, JobState::kQueued);
  EXPECT_THAT(ids(table, table.active()), ElementsAre(0, 1));
  EXPECT_THAT(ids(table, table.waiting()), ElementsAre(0, 1));
  table.set_state(first, JobState::kRunning);
  EXPECT_THAT(ids(table, table.active()), ElementsAre(0, 1));
  EXPECT_THAT(ids(table, table.waiting()), ElementsAre(1));
  table.set_state(first, JobState::kPreempted);
  EXPECT_THAT(ids(table, table.waiting()), ElementsAre(0, 1));
  table.set_state(second, JobState::kRefused);
  EXPECT_THAT(ids(table, table.active()), ElementsAre(0));
  EXPECT_EQ(table.active().size(), 1U);
  EXPECT_EQ(table.waiting().front(), first);
}

TEST(JobTable, APreemptedJobReturnsToItsPlace) {
  JobTable table;
  std::vector<Slot> slots;
  for (std::uint32_t id = 0; id < 5; ++id) {
    slots.push_back(add(table, id));
    table.set_state(slots.back(), JobState::kQueued);
  }
  for (const int i : {2, 0, 4})
    table.set_state(slots[static_cast<std::size_t>(i)], JobState::kRunning);
  EXPECT_THAT(ids(table, table.waiting()), ElementsAre(1, 3));
  table.set_state(slots[2], JobState::kPreempted);
  EXPECT_THAT(ids(table, table.waiting()), ElementsAre(1, 2, 3));
  table.set_state(slots[4], JobState::kPreempted);
  table.set_state(slots[0], JobState::kPreempted);
  EXPECT_THAT(ids(table, table.waiting()), ElementsAre(0, 1, 2, 3, 4));
}

TEST(JobTable, RecyclesSlotsAndForgetsTheirPast) {
  JobTable table;
  const Slot old = add(table, 0);
  table.set_state(old, JobState::kQueued);
  table[old].preemptions = 3;
  table[old].gpus.add(NodeId{0}, 1);
  table.set_state(old, JobState::kRefused);
  table.remove(old);
  const Slot fresh = add(table, 1);
  EXPECT_EQ(fresh, old);
  EXPECT_EQ(table.slots(), 1U);
  EXPECT_EQ(table[fresh].preemptions, 0);
  EXPECT_TRUE(table[fresh].gpus.empty());
  EXPECT_EQ(table[fresh].state, JobState::kSubmitted);
  EXPECT_EQ(table[fresh].self, fresh);
  EXPECT_EQ(table[fresh].next_co_located, fresh);
}

TEST(JobTable, ListsAgreeWithAPlainMapUnderRandomSteps) {
  JobTable table;
  Random random(5, "job table");
  std::map<std::uint32_t, Slot> present;  // by id
  std::uint32_t next_id = 0;
  for (int step = 0; step < 4000; ++step) {
    if (present.empty() || random.chance(0.2)) {
      const Slot slot = add(table, next_id);
      present[next_id++] = slot;
      table.set_state(slot, JobState::kQueued);
    } else {
      auto chosen = present.begin();
      std::advance(chosen, static_cast<std::ptrdiff_t>(random.below(present.size())));
      const Slot slot = chosen->second;
      if (table[slot].running()) {
        const bool leaves = random.chance(0.3);
        table.set_state(slot, leaves ? JobState::kFinished : JobState::kPreempted);
        if (leaves) {
          table.remove(slot);
          present.erase(chosen);
        }
      } else {
        table.set_state(slot, JobState::kRunning);
      }
    }
    std::vector<std::uint32_t> active;
    std::vector<std::uint32_t> waiting;
    for (const auto& [id, slot] : present) {
      active.push_back(id);
      if (table[slot].waiting()) waiting.push_back(id);
    }
    ASSERT_EQ(ids(table, table.active()), active);
    ASSERT_EQ(ids(table, table.waiting()), waiting);
    ASSERT_EQ(table.active().size(), active.size());
    ASSERT_EQ(table.waiting().size(), waiting.size());
  }
}

TEST(Job, ProgressIsReadAtAnyTime) {
  Job job;
  job.total_work = 100;
  job.work = 10;
  job.rate = 2;
  job.since = 50;  // still starting before that
  EXPECT_EQ(job.work_at(40), 10);
  EXPECT_EQ(job.work_at(60), 30);
  EXPECT_EQ(job.remaining_at(60), 70);
  EXPECT_EQ(job.remaining_at(1000), 0);
}

TEST(Job, ServiceCountsTheTimeGpusWereHeld) {
  Job job;
  job.held_before = 5;
  job.gpu_seconds_before = 10;
  EXPECT_EQ(job.attained_at(100), 5);
  job.state = JobState::kRunning;
  job.gpus.add(NodeId{0}, 0b111);
  job.held_since = 90;
  EXPECT_EQ(job.attained_at(100), 15);
  EXPECT_EQ(job.gpu_seconds_at(100), 40);
}

}  // namespace
}  // namespace muster
