// The daemon's core with a disk of rows: what it commits is what the next one begins with.
#pragma once

#include <algorithm>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "daemon/submission.h"

namespace muster {

class CoreOnDisk : public ::testing::Test {
 protected:
  virtual LivePlan plan() const { return live_plan("1x4"); }

  void begin(const StoredWorld& world = {}) {
    auto core = Core::make(plan(), Abilities{}, {}, world, now_);
    ASSERT_TRUE(core) << core.error().message;
    core_ = std::move(*core);
    take();
  }
  // Another daemon, of which the executor says what it sees running.
  void restart() {
    begin(stored());
    core_->begin_census();
    for (const auto& [run, row] : runs_) {
      const bool there = row.state == RunState::kRunning || row.state == RunState::kStopping;
      if (there) hear(run, RunEvent::kSeenRunning);
    }
    core_->hear(CensusReport{++census_, true}, now_);
    step();
  }
  void step() {
    core_->step(now_);
    take();
  }
  void step_at(Seconds now) {
    now_ = now;
    step();
  }
  // What was committed, and what was to be done.
  void take() {
    effects_ = core_->take(now_);
    for (const StoredJob& row : effects_.batch.jobs) jobs_[row.id] = row;
    for (const StoredRun& row : effects_.batch.runs) runs_[row.run] = row;
  }
  StoredWorld stored() const {
    StoredWorld world;
    for (const auto& [id, row] : jobs_) world.jobs.push_back(row);
    for (const auto& [run, row] : runs_) world.runs.push_back(row);
    return world;
  }
  void submit(std::uint32_t id, const JobRequest& request) {
    jobs_[JobId{id}] = submitted_row(JobId{id}, request, now_);
    submit_to(*core_, JobId{id}, request, now_);
  }
  void hear(RunId run, RunEvent event, RunOutcome outcome = RunOutcome::kStopped) {
    RunReport report;
    report.run = run;
    report.event = event;
    report.outcome = outcome;
    core_->hear(report, now_);
  }
  void run(std::uint32_t job, std::uint32_t launch) {
    for (const RunEvent event : {RunEvent::kReady, RunEvent::kStarted}) {
      hear({JobId{job}, launch}, event);
      step();
    }
  }
  bool stops(RunId run) const {
    return std::any_of(effects_.calls.begin(), effects_.calls.end(), [run](const LaunchCall& call) {
      return call.run == run &&
             (call.command == RunCommand::kStop || call.command == RunCommand::kKill);
    });
  }
  const Job& job(std::uint32_t id) const {
    const Slot slot = core_->engine().jobs().find(JobId{id});
    EXPECT_NE(slot, kNoSlot) << "job " << id << " is not among the active ones";
    return core_->engine().jobs()[slot];
  }

  Seconds now_ = 10;
  std::unique_ptr<Core> core_;
  CoreEffects effects_;
  std::map<JobId, StoredJob> jobs_;
  std::map<RunId, StoredRun> runs_;
  std::uint64_t census_ = 0;
};

}  // namespace muster
