// A run that is driven from outside, by due(), apply() and turn_at() alone, is the run that run()
// makes of the same world; and what was handed over can be recorded and gone through again.
#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "base/random.h"
#include "engine/recording.h"
#include "perf/product.h"
#include "support/simulation.h"

namespace muster {
namespace {

// A world about which nothing is known in advance, as a live one: the engine does not wait in it.
class UnforeseenBackend final : public Backend {
 public:
  explicit UnforeseenBackend(Backend& inner) : inner_(inner) {}
  JobProgress act(const Command& command, Seconds now) override { return inner_.act(command, now); }
  bool answers_later() const override { return inner_.answers_later(); }
  bool has_external_events() const override { return true; }
  void dispatch(std::span<const Order> orders, Seconds now) override {
    inner_.dispatch(orders, now);
  }
  Seconds advance(Seconds, bool, std::vector<JobEvent>&) override {
    ADD_FAILURE() << "an engine that is driven from outside does not wait";
    return kNever;
  }

 private:
  Backend& inner_;
};

struct Way {
  const char* scheduling;
  const char* pacing;
  bool slow;  // commands take time, and fail
};

class Driven : public ::testing::TestWithParam<Way> {
 protected:
  Driven() {
    Random random(7);
    for (int i = 0; i < 60; ++i) {
      jobs_.push_back(job_of(10.0 * i, random.uniform(20, 400), 1 << random.integer(0, 2)));
    }
    scenario_.cluster = uniform_cluster(3, 4);
    scenario_.jobs = jobs_;
    scenario_.scheduling = {GetParam().scheduling};
    scenario_.pacing = {GetParam().pacing};
    scenario_.failures.node_mtbf = 3000;
    scenario_.failures.node_repair = 100;
    if (GetParam().slow) {
      scenario_.life = {.start_latency = 3, .stop_latency = 5, .start_failure = 0.1};
    }
  }

  Engine::Parts parts(Backend& backend, JobSource& source, RunLog& log) const {
    Engine::Parts parts;
    parts.cluster = std::make_shared<const ClusterSpec>(scenario_.cluster);
    parts.perf = multiply({});
    parts.pacing = make_pacing(scenario_.pacing);
    parts.policy_sets.push_back(make_policy_set(scenario_.scheduling));
    parts.backend = &backend;
    parts.source = &source;
    parts.observers = {&log};
    return parts;
  }
  std::unique_ptr<Backend> world() const {
    SimParts parts{.cluster = std::make_shared<const ClusterSpec>(scenario_.cluster),
                   .perf = multiply({}),
                   .failures = scenario_.failures};
    if (!GetParam().slow) return std::make_unique<SimBackend>(std::move(parts));
    return std::make_unique<LifeBackend>(std::move(parts), scenario_.life);
  }

  std::vector<JobSpec> jobs_;
  Scenario scenario_;
};

// What engine/engine.h says a service does. On a grid, loud news is handed over with the next turn.
void drive(Engine& engine, Recorder& recorder, Backend& world) {
  const auto is_loud = [](const JobEvent& event) { return loud(event.kind); };
  std::vector<JobEvent> kept;
  for (Due due = engine.due(); !engine.over(); due = engine.due()) {
    std::vector<JobEvent> heard;
    const Seconds now = world.advance(std::min(due.at, world.next_event()), true, heard);
    const bool news = std::any_of(heard.begin(), heard.end(), is_loud);
    if (now >= due.at || (due.or_event && news)) {
      kept.insert(kept.end(), heard.begin(), heard.end());
      recorder.turn_at(engine, now, kept);
      kept.clear();
    } else {
      std::copy_if(heard.begin(), heard.end(), std::back_inserter(kept), is_loud);
      std::erase_if(heard, is_loud);
      if (!heard.empty()) recorder.apply(engine, now, heard);
    }
  }
}

TEST_P(Driven, FromOutsideAsByItself) {
  const RunLog alone = simulate(scenario_);
  ASSERT_EQ(alone.jobs.size(), jobs_.size());

  const auto simulated = world();
  UnforeseenBackend backend(*simulated);
  ListSource source(jobs_);
  Symbols symbols;
  std::ostringstream text;
  Recorder recorder(backend, source, symbols, text);
  RunLog driven;
  Engine engine(parts(recorder.backend(), recorder.source(), driven));
  drive(engine, recorder, *simulated);
  recorder.finish();
  EXPECT_EQ(driven.lines(), alone.lines());
  ASSERT_EQ(driven.jobs.size(), alone.jobs.size());
  for (std::size_t i = 0; i < alone.jobs.size(); ++i) {
    EXPECT_EQ(driven.jobs[i].id, alone.jobs[i].id);
    EXPECT_EQ(driven.jobs[i].end, alone.jobs[i].end);
    EXPECT_EQ(driven.jobs[i].queue, alone.jobs[i].queue);
    EXPECT_EQ(driven.jobs[i].gpu_seconds, alone.jobs[i].gpu_seconds);
    EXPECT_EQ(driven.jobs[i].overhead, alone.jobs[i].overhead);
  }

  const auto recording = read_recording(text.str(), symbols);
  ASSERT_TRUE(recording) << recording.error().message;
  Replay replay(*recording);
  RunLog again;
  Engine engine_again(parts(replay.backend(), replay.source(), again));
  const Status status = replay.run(engine_again);
  EXPECT_TRUE(status) << status.error().message;
  EXPECT_TRUE(replay.exhausted());
  EXPECT_EQ(again.lines(), driven.lines());
}

INSTANTIATE_TEST_SUITE_P(Ways, Driven,
                         ::testing::Values(Way{"fifo", "events", false},
                                           Way{"srtf", "events", false},
                                           Way{"las", "events", false}, Way{"las", "rounds", false},
                                           Way{"max-min", "rounds", false},
                                           Way{"fifo", "events", true}, Way{"srtf", "events", true},
                                           Way{"las", "rounds", true}),
                         [](const auto& test) {
                           std::string name = std::string(test.param.scheduling) + "_" +
                                              test.param.pacing +
                                              (test.param.slow ? "_slow" : "_instant");
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace muster
