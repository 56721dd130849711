// What a daemon records reads back exactly, with nothing lost: every field is set here, and every
// field is named, so that a new one does not compile before recordings know of it.
#include "daemon/record/record_json.h"

#include <tuple>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/full_job.h"

namespace muster {
namespace {

// As text and back: what is in a file.
nlohmann::json through_text(const nlohmann::json& json) {
  return nlohmann::json::parse(json.dump());
}

// All but the request, where the job lives, and its ring: these are found anew.
auto recorded_fields(const Job& job) {
  const auto& [self, state, total_work, work, rate, since, saved_work, added_work, spec, gpus, host,
               held_since, held_before, gpu_seconds_before, waiting_since, waited_before, admitted,
               first_start, preemptions, restarts, crashes, resizes, lost_work, overhead, launch,
               ended, failed_starts, start_order, joined, opportunistic, next_co_located] = job;
  return std::tuple(state, total_work, work, rate, since, saved_work, added_work, gpus, host,
                    held_since, held_before, gpu_seconds_before, waiting_since, waited_before,
                    admitted, first_start, preemptions, restarts, crashes, resizes, lost_work,
                    overhead, launch, ended, failed_starts, start_order, joined, opportunistic);
}

Job full_account(Symbols& symbols) {
  Job job;
  job.spec = full_job(symbols);
  job.spec.id = JobId{12};
  job.state = JobState::kRunning;
  double next = 1.0 / 3;
  for (double* field :
       {&job.total_work, &job.work, &job.rate, &job.saved_work, &job.added_work,
        &job.host.cpus_per_gpu, &job.host.memory_per_gpu, &job.held_since, &job.held_before,
        &job.gpu_seconds_before, &job.waiting_since, &job.waited_before, &job.admitted,
        &job.first_start, &job.lost_work, &job.overhead}) {
    *field = next += 0.1;
  }
  job.since = kNever;
  int count = 3;
  for (int* field : {&job.preemptions, &job.restarts, &job.crashes, &job.resizes}) {
    *field = ++count;
  }
  std::uint32_t number = 20;
  for (std::uint32_t* field : {&job.launch, &job.ended, &job.failed_starts, &job.start_order}) {
    *field = ++number;
  }
  job.gpus.add(NodeId{3}, 0xf0);
  job.gpus.add(NodeId{5}, ~std::uint64_t{0});
  job.joined = job.opportunistic = true;
  return job;
}

TEST(RecordJson, KeepsEveryFieldOfAJob) {
  Symbols symbols;
  const JobSpec job = full_account(symbols).spec;
  Symbols others;
  others.intern("shifts the numbers of all symbols");
  const JobSpec again = spec_from(through_text(to_json(job, symbols)), others);
  EXPECT_EQ(again.id, job.id);
  EXPECT_TRUE(same_fields(again, full_job(others)));
}

TEST(RecordJson, KeepsEveryFieldOfAnEvent) {
  Symbols symbols;
  JobEvent event;
  auto& [time, kind, revision, slot, job, launch, node, gpu, work, rate, saved, value, metric] =
      event;
  time = 0.1 + 0.2;
  kind = EventKind::kMetric;
  revision = Revision::kDeadline;
  slot = Slot{3};
  job = JobId{4};
  launch = 9;
  node = NodeId{5};
  gpu = 6;
  work = 1.0 / 7;
  rate = 2;
  saved = 0.25;
  value = -kNever;
  metric = symbols.intern("loss of 1");
  Symbols others;
  others.intern("shifts the numbers of all symbols");
  const JobEvent again = event_from(through_text(to_json(event, symbols)), others);
  EXPECT_EQ(std::tie(again.time, again.kind, again.revision, again.slot, again.job, again.launch),
            std::tie(time, kind, revision, slot, job, launch));
  EXPECT_EQ(std::tie(again.node, again.gpu, again.work, again.rate, again.saved, again.value),
            std::tie(node, gpu, work, rate, saved, value));
  EXPECT_EQ(again.metric, others.intern("loss of 1"));
}

TEST(RecordJson, KeepsAWholeWorld) {
  Symbols symbols;
  EngineWorld world;
  world.now = 100.5;
  world.next_id = 13;
  world.jobs = {full_account(symbols), Job{}};
  world.on_hold = {JobId{0}};
  world.back_offs = {{JobId{0}, 140.25}};
  world.costs = {{JobId{12}, 1.0 / 3}};
  world.metrics = {{99.5, JobId{12}, symbols.intern("loss of 1"), -kNever}};
  auto& [node, up, drained, removed, broken] = world.nodes.emplace_back();
  node = NodeId{7};
  up = false;
  drained = removed = true;
  broken = std::uint64_t{1} << 63U;
  Symbols others;
  others.intern("shifts the numbers of all symbols");
  const EngineWorld again = world_from(through_text(to_json(world, symbols)), others);
  EXPECT_EQ(std::tie(again.now, again.next_id, again.on_hold),
            std::tie(world.now, world.next_id, world.on_hold));
  ASSERT_EQ(again.jobs.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(recorded_fields(again.jobs[i]), recorded_fields(world.jobs[i]));
  }
  EXPECT_TRUE(same_fields(again.jobs[0].spec, full_account(others).spec));
  ASSERT_EQ(again.back_offs.size(), 1U);
  const auto& [late, until] = again.back_offs[0];
  EXPECT_EQ(std::tie(late, until), std::tuple(JobId{0}, 140.25));
  ASSERT_EQ(again.costs.size(), 1U);
  const auto& [dear, dollars] = again.costs[0];
  EXPECT_EQ(std::tie(dear, dollars), std::tuple(JobId{12}, 1.0 / 3));
  ASSERT_EQ(again.metrics.size(), 1U);
  const auto& [time, teller, name, value] = again.metrics[0];
  EXPECT_EQ(std::tie(time, teller, value), std::tuple(99.5, JobId{12}, -kNever));
  EXPECT_EQ(name, others.intern("loss of 1"));
  ASSERT_EQ(again.nodes.size(), 1U);
  const WorldNode& found = again.nodes.front();
  EXPECT_EQ(found.node, NodeId{7});
  EXPECT_FALSE(found.up);
  EXPECT_TRUE(found.drained && found.removed);
  EXPECT_EQ(found.broken_gpus, std::uint64_t{1} << 63U);
}

// Recorded before worlds had these lists.
TEST(RecordJson, ReadsEarlierWorlds) {
  Symbols symbols;
  EngineWorld world;
  world.next_id = 13;
  world.jobs = {full_account(symbols)};
  world.back_offs = {{JobId{12}, 140.25}};
  nlohmann::json json = through_text(to_json(world, symbols));
  for (const char* list : {"back_offs", "costs", "metrics"}) ASSERT_EQ(json.erase(list), 1U);
  const EngineWorld again = world_from(json, symbols);
  EXPECT_EQ(again.jobs.size(), 1U);
  EXPECT_TRUE(again.back_offs.empty() && again.costs.empty() && again.metrics.empty());
}

}  // namespace
}  // namespace muster
