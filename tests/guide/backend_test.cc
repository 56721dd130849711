// The backend of docs/engine.md, as it stands on the page, on a system that takes its time: 5 s to
// start a launch and 10 s to stop one. Every timeline is computed by hand.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "guide_backend.inc"
#include "perf/product.h"
#include "support/simulation.h"
#include "workload/source.h"

namespace muster {
namespace {

// One GPU. It knows how long jobs really are, and says what happens when it does.
class SlowSystem final : public GuideSystem {
 public:
  static constexpr Seconds kStart = 5;
  static constexpr Seconds kStop = 10;

  explicit SlowSystem(std::vector<double> lengths) : lengths_(std::move(lengths)) {}

  void leave(RunId run, bool saves) override {
    if (run != runs_) {  // it has not begun: it is gone at once
      std::erase(queue_, run);
      return say(now, EventKind::kReleased, run, saved_[run.job]);
    }
    if (saves && began_ <= now) saved_[run.job] += now - began_;
    leaves_at_ = now + kStop;
    ends_at_ = begins_at_ = kNever;
  }
  void launch(RunId run, const GpuSet&) override {
    queue_.push_back(run);
    begin_next();
  }

  // The next thing that happens; kNever: nothing.
  Seconds next() const { return std::min({begins_at_, ends_at_, leaves_at_}); }
  void advance(Seconds to) {
    now = to;
    if (begins_at_ == to) {
      begins_at_ = kNever;
      began_ = to;
      ends_at_ = to + lengths_[index(runs_.job)] - saved_[runs_.job];
      return say(to, EventKind::kStarted, runs_, saved_[runs_.job]);
    }
    if (ends_at_ != to && leaves_at_ != to) return;
    const bool done = ends_at_ == to;
    say(to, done ? EventKind::kFinished : EventKind::kReleased, runs_, saved_[runs_.job]);
    runs_ = {};
    ends_at_ = leaves_at_ = kNever;
    begin_next();
  }

  Seconds now = 0;
  std::vector<JobEvent> said;

 private:
  void begin_next() {
    if (runs_.job != kNoJob || queue_.empty()) return;
    runs_ = queue_.front();
    queue_.erase(queue_.begin());
    began_ = kNever;
    begins_at_ = now + kStart;
  }
  void say(Seconds time, EventKind kind, RunId run, double saved) {
    JobEvent& event = said.emplace_back();
    event.time = time;
    event.kind = kind;
    event.job = run.job;
    event.launch = run.launch;
    event.saved = saved;
  }

  std::vector<double> lengths_;
  std::map<JobId, double> saved_;
  std::vector<RunId> queue_;
  RunId runs_;
  Seconds began_ = kNever;
  Seconds begins_at_ = kNever;
  Seconds ends_at_ = kNever;
  Seconds leaves_at_ = kNever;
};

// As docs/engine.md says under "Driving it".
void drive(Engine& engine, SlowSystem& system) {
  for (int i = 0; i < 1000; ++i) {
    const Due due = engine.due();
    const Seconds now = std::min(due.at, system.next());
    if (now == kNever) return;
    system.advance(now);
    const std::vector<JobEvent> news = std::exchange(system.said, {});
    const bool loud_news =
        std::any_of(news.begin(), news.end(), [](const JobEvent& one) { return loud(one.kind); });
    if (now >= due.at || (loud_news && due.or_event)) {
      if (!engine.turn_at(now, news)) return;
    } else {
      engine.apply(now, news);
    }
    for (const Slot slot : engine.jobs().running()) {
      const Job& job = engine.jobs()[slot];
      EXPECT_TRUE(job.starting() || job.rate == 1) << "a job that has started goes on";
    }
  }
  FAIL() << "it does not come to an end";
}

TEST(GuideBackend, TakesJobsThroughAWholeLife) {
  // The second job is shorter and displaces the first, which has run for 15 s of its 100 by then.
  const std::vector<JobSpec> jobs = {job_of(0, 100), job_of(20, 10)};
  SlowSystem system({100, 10});
  ListSource source(jobs);
  RunLog log;
  Engine::Parts parts;
  parts.cluster = std::make_shared<const ClusterSpec>(uniform_cluster(1, 1));
  parts.perf = multiply({});
  GuideBackend backend(system, parts.perf);
  parts.pacing = make_events();
  parts.policy_sets.push_back(make_policy_set({"srtf"}));
  parts.backend = &backend;
  parts.source = &source;
  parts.observers = {&log};
  Engine engine(std::move(parts));
  drive(engine, system);
  ASSERT_EQ(log.jobs.size(), 2U);
  const JobRecord displacer = log.job(1);
  EXPECT_EQ(displacer.status, JobState::kFinished);
  EXPECT_EQ(displacer.start, 35) << "at 20 it is wanted, at 30 the GPU is free, 5 s it starts";
  EXPECT_EQ(displacer.end, 45);
  const JobRecord displaced = log.job(0);
  EXPECT_EQ(displaced.status, JobState::kFinished);
  EXPECT_EQ(displaced.start, 5);
  EXPECT_EQ(displaced.end, 45 + 5 + 85) << "what it had saved is not done again";
  EXPECT_EQ(displaced.preemptions, 1);
  EXPECT_EQ(displaced.lost_work, 0);
}

}  // namespace
}  // namespace muster
