// The shadow beside Slurm's own scheduler: what it takes in, when its launches end, what it counts.
#include "backend/slurm/shadow_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ShadowBookTest : public ::testing::Test {
 protected:
  ShadowBookTest() {
    SlurmNode node;
    node.name = "n1";
    node.partitions = {"gpu"};
    node.gres = {{"gpu", "v100", 4}};
    node.state = "idle";
    nodes_ = {node};
    std::vector<std::string> notes;
    auto cluster = SlurmCluster::find(nodes_, {"gpu"}, notes);
    book_ = std::make_unique<ShadowBook>(
        std::vector<std::string>{"gpu"}, std::move(*cluster),
        [this](const Report& report) { hear(report); },
        [this](const std::string& line) { said_.push_back(line); }, 1000);
  }

  void hear(const Report& report) {
    if (const auto* job = std::get_if<JobReport>(&report)) jobs_heard_.push_back(*job);
    if (const auto* run = std::get_if<RunReport>(&report)) runs_heard_.push_back(*run);
    if (const auto* node = std::get_if<NodeReport>(&report)) nodes_heard_.push_back(*node);
  }
  SlurmJob& add(std::uint32_t id, SlurmState state, double submitted) {
    SlurmJob job;
    job.id = id;
    job.state = state;
    job.user = "ann";
    job.name = "bert";
    job.partition = "gpu";
    job.submitted = submitted;
    job.per_node = {{"gpu", "", 2}};
    job.nodes_wanted = 1;
    rows_.push_back(job);
    return rows_.back();
  }
  void look(double now) { book_->look(rows_, nodes_, now); }
  // The launch of the job that was found as the `found`-th.
  RunOrder order(std::size_t found, std::uint32_t launch) {
    RunOrder order;
    order.run = {JobId{static_cast<std::uint32_t>(found + 1)}, launch};
    order.origin = jobs_heard_.at(found).origin;
    order.gpus.add(NodeId{0}, 3);
    return order;
  }
  RunId start(std::size_t found, double now, std::uint32_t launch = 1) {
    book_->prepare(order(found, launch));
    book_->go(order(found, launch).run, now);
    return order(found, launch).run;
  }
  std::vector<RunEvent> events() const {
    std::vector<RunEvent> found;
    for (const RunReport& report : runs_heard_) found.push_back(report.event);
    return found;
  }

  std::vector<SlurmNode> nodes_;
  std::vector<SlurmJob> rows_;
  std::unique_ptr<ShadowBook> book_;
  std::vector<std::string> said_;
  std::vector<JobReport> jobs_heard_;
  std::vector<RunReport> runs_heard_;
  std::vector<NodeReport> nodes_heard_;
};

TEST_F(ShadowBookTest, TakesInWhatWaitsAndRunsOnceAndLeavesTheRest) {
  rows_.reserve(10);
  add(1, SlurmState::kPending, 900);
  add(2, SlurmState::kRunning, 800).started = 950;
  add(3, SlurmState::kPending, 900).partition = "other";
  add(4, SlurmState::kPending, 900).per_node = {};
  add(5, SlurmState::kPending, 900).array = true;
  add(6, SlurmState::kCompleted, 900);
  add(7, SlurmState::kPending, 900).held = true;
  add(8, SlurmState::kPending, 900).reason = "Dependency";
  look(1000);
  look(1002);
  ASSERT_EQ(jobs_heard_.size(), 2U);
  EXPECT_EQ(jobs_heard_[0].kind, JobReport::Kind::kFound);
  EXPECT_EQ(jobs_heard_[0].owner, "ann");
  EXPECT_THAT(jobs_heard_[0].description, HasSubstr("\"gpus\":2"));
  EXPECT_EQ(jobs_heard_[1].origin, "slurm:2@800");
  EXPECT_THAT(said_, ElementsAre(HasSubstr("job 5 is left out: it is an array")));
  rows_.back().reason = "Priority";
  look(1004);
  EXPECT_EQ(jobs_heard_.back().origin, "slurm:8@900");
}

TEST_F(ShadowBookTest, ALaunchLastsAsLongAsSlurmsAndNeverEndsBeforeIt) {
  rows_.reserve(2);
  SlurmJob& first = add(1, SlurmState::kPending, 1000);
  SlurmJob& second = add(2, SlurmState::kPending, 1000);
  look(1000);
  const RunId early = start(0, 1001);
  EXPECT_THAT(said_.back(), HasSubstr("would start Slurm's job 1 (bert) on n1 (2 GPUs)"));
  first.state = second.state = SlurmState::kRunning;
  first.started = second.started = 1020;
  look(1021);
  const RunId late = start(1, 1030);
  first.state = second.state = SlurmState::kCompleted;
  first.ended = second.ended = 1050;
  runs_heard_.clear();
  look(1051);
  // It ran for 30 s there. The early one has lasted longer; the late one has 9 s to go.
  ASSERT_THAT(events(), ElementsAre(RunEvent::kExited));
  EXPECT_EQ(runs_heard_[0].run, early);
  EXPECT_EQ(runs_heard_[0].outcome, RunOutcome::kFinished);
  book_->pass(1059.5);
  EXPECT_EQ(events().size(), 1U);
  book_->pass(1060);
  ASSERT_EQ(events().size(), 2U);
  EXPECT_EQ(runs_heard_[1].run, late);
  EXPECT_THAT(book_->gain(), HasSubstr("2 jobs were started by Slurm and by us: Slurm let them "
                                       "wait 20.0 s on average, we would have 15.5 s"));
  EXPECT_THAT(book_->gain(), HasSubstr("2 of them have ended: they took 50.0 s on average from "
                                       "submission to end, and would have taken 45.5 s"));
}

// An early start alone is no gain: who is stopped again ends later.
TEST_F(ShadowBookTest, APreemptedJobCountsByItsEnd) {
  rows_.reserve(1);
  SlurmJob& job = add(1, SlurmState::kPending, 1000);
  look(1000);
  book_->stop(start(0, 1000), 1001);
  job.state = SlurmState::kCompleted;
  job.nodes = "n1";
  job.started = 1005;
  job.ended = 1015;
  look(1020);
  start(0, 1100, 2);
  book_->pass(1109);
  EXPECT_THAT(book_->gain(), HasSubstr("wait 5.0 s on average, we would have 0.0 s; 1 of them "
                                       "have ended: they took 15.0 s on average from submission to "
                                       "end, and would have taken 109.0 s"));
}

TEST_F(ShadowBookTest, WhoStartsBetweenTwoLooksCountsToo) {
  rows_.reserve(4);
  add(1, SlurmState::kRunning, 990).started = 995;  // before us
  look(1000);
  add(2, SlurmState::kRunning, 1001).started = 1001;
  SlurmJob& gone = add(3, SlurmState::kCompleted, 1001);
  gone.nodes = "n1";
  gone.started = 1001;
  gone.ended = 1002;
  add(4, SlurmState::kCancelled, 1001);  // it never ran
  look(1003);
  ASSERT_EQ(jobs_heard_.size(), 3U);
  start(1, 1003);
  start(2, 1004);
  EXPECT_THAT(book_->gain(), HasSubstr("2 jobs were started by Slurm and by us: Slurm let them "
                                       "wait 0.0 s on average, we would have 2.5 s"));
}

TEST_F(ShadowBookTest, APreemptedJobGoesOnWhereItWas) {
  rows_.reserve(1);
  SlurmJob& job = add(1, SlurmState::kPending, 1000);
  look(1000);
  book_->stop(start(0, 1000), 1010);
  EXPECT_THAT(said_.back(), HasSubstr("would stop Slurm's job 1 (bert) after 10 s"));
  job.state = SlurmState::kCompleted;
  job.started = 1000;
  job.ended = 1025;
  look(1030);
  start(0, 1030, 2);
  runs_heard_.clear();
  book_->pass(1044);
  EXPECT_THAT(runs_heard_, IsEmpty());
  book_->pass(1045);
  EXPECT_THAT(events(), ElementsAre(RunEvent::kExited));
}

TEST_F(ShadowBookTest, WhatIsCancelledOrForgottenInSlurmLeaves) {
  rows_.reserve(2);
  SlurmJob& cancelled = add(1, SlurmState::kPending, 1000);
  add(2, SlurmState::kPending, 1000);
  look(1000);
  cancelled.state = SlurmState::kCancelled;
  cancelled.started = cancelled.ended = 1001;
  rows_.pop_back();
  look(1002);
  look(1004);
  ASSERT_EQ(jobs_heard_.size(), 4U);
  EXPECT_EQ(jobs_heard_[2].kind, JobReport::Kind::kCancelled);
  EXPECT_EQ(jobs_heard_[2].origin, jobs_heard_[0].origin);
  EXPECT_THAT(jobs_heard_[3].why, HasSubstr("does not know it any more"));
  // A launch of a job from before a restart that Slurm has forgotten.
  runs_heard_.clear();
  RunOrder old;
  old.run = {JobId{77}, 1};
  old.origin = "slurm:9@1";
  book_->prepare(old);
  EXPECT_THAT(events(), ElementsAre(RunEvent::kStartFailed));
  EXPECT_EQ(jobs_heard_.back().job, JobId{77});
}

TEST_F(ShadowBookTest, NodesThatAreDownAndGpusOfOthersCount) {
  rows_.reserve(1);
  look(1000);
  EXPECT_THAT(nodes_heard_, IsEmpty());
  SlurmJob& other = add(8, SlurmState::kRunning, 900);
  other.partition = "other";
  other.nodes = "n1";
  other.gres = {{{"gpu", "v100", 3}}};
  nodes_[0].drained = true;
  look(1002);
  look(1004);
  ASSERT_EQ(nodes_heard_.size(), 1U);
  EXPECT_EQ(nodes_heard_[0].taken, 3);
  EXPECT_TRUE(nodes_heard_[0].drained);
  rows_.clear();
  nodes_[0].drained = false;
  look(1006);
  ASSERT_EQ(nodes_heard_.size(), 2U);
  EXPECT_EQ(nodes_heard_[1].taken, 0);
}

}  // namespace
}  // namespace muster
