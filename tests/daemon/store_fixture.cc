#include "daemon/store_fixture.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

// Any bytes but zero, quotes and invalid UTF-8 among them.
std::string random_text(Random& random) {
  std::string text;
  const std::uint64_t length = random.below(12);
  for (std::uint64_t i = 0; i < length; ++i) {
    text += random.chance(0.2) ? '\'' : static_cast<char>(1 + random.below(255));
  }
  return text;
}

double random_time(Random& random) {
  return random.chance(0.2) ? kNever : random.uniform(-1e9, 1e9);
}

template <typename T>
T pick(std::uint64_t below, Random& random) {
  return static_cast<T>(random.below(below));
}

}  // namespace

StoredJob random_job(JobId id, Random& random) {
  StoredJob job;
  job.id = id;
  for (std::string* text : {&job.owner, &job.name, &job.request, &job.state, &job.reason,
                            &job.description, &job.metrics}) {
    *text = random_text(random);
  }
  for (double* number : {&job.submitted,
                         &job.admitted,
                         &job.first_start,
                         &job.ended,
                         &job.total_work,
                         &job.work,
                         &job.saved_work,
                         &job.lost_work,
                         &job.held,
                         &job.gpu_seconds,
                         &job.waited,
                         &job.overhead,
                         &job.paused_until,
                         &job.cpus_per_gpu,
                         &job.memory_per_gpu,
                         &job.held_before,
                         &job.gpu_seconds_before,
                         &job.as_of,
                         &job.rate,
                         &job.duration,
                         &job.estimate}) {
    *number = random_time(random);
  }
  job.opportunistic = random.chance(0.5);
  for (std::int64_t* count : {&job.launches, &job.preemptions, &job.restarts, &job.crashes,
                              &job.resizes, &job.failed_starts}) {
    *count = static_cast<std::int64_t>(random.next());
  }
  return job;
}

StoredRun random_run(RunId id, Random& random) {
  StoredRun run;
  run.run = id;
  run.state = pick<RunState>(kRunStates, random);
  const std::uint64_t nodes = random.below(3);
  for (std::uint64_t node = 0; node < nodes; ++node) {
    run.gpus.add(NodeId{static_cast<std::uint32_t>(node * 7)}, random.next());
  }
  run.sharing = pick<Sharing>(2, random);
  run.planned = random_time(random);
  run.started = random_time(random);
  run.ended = random_time(random);
  run.outcome = pick<RunOutcome>(3, random);
  run.exit_code = static_cast<std::int64_t>(random.below(256));
  run.saved_step = random_time(random);
  run.detail = random_text(random);
  return run;
}

Batch random_batch(Random& random, std::int64_t& next_decision) {
  Batch batch;
  const auto id = [&random] { return static_cast<std::uint32_t>(random.below(6)); };
  while (random.chance(0.6)) batch.jobs.push_back(random_job(JobId{id()}, random));
  while (random.chance(0.6)) batch.runs.push_back(random_run({JobId{id()}, id()}, random));
  while (random.chance(0.3)) {
    batch.nodes.push_back({NodeId{id()}, random_text(random), random_text(random),
                           static_cast<std::int64_t>(id()), random.chance(0.5),
                           random_text(random)});
  }
  while (random.chance(0.3)) {
    batch.users.push_back({fmt::format("user {}", id()), random_text(random), random_text(random)});
  }
  while (random.chance(0.5)) {
    batch.decisions.push_back(
        {next_decision++, random_time(random), JobId{id()}, random_text(random)});
  }
  while (random.chance(0.3)) batch.notes[fmt::format("key {}", id())] = random_text(random);
  while (random.chance(0.2)) batch.forgotten_jobs.push_back(JobId{id()});
  while (random.chance(0.2)) batch.forgotten_runs.push_back({JobId{id()}, id()});
  while (random.chance(0.2)) batch.forgotten_users.push_back(fmt::format("user {}", id()));
  return batch;
}

Batch numbered_batch(int n) {
  Batch batch;
  StoredJob job;
  job.id = JobId{1};
  job.launches = n;
  batch.jobs.push_back(job);
  StoredRun run;
  run.run = {JobId{1}, 1};
  run.exit_code = n;
  batch.runs.push_back(run);
  batch.notes["number"] = std::to_string(n);
  return batch;
}

Status commit_one(Store& store, const Batch& batch) { return store.commit({&batch, 1}); }

int number_in(const StoredWorld& world) {
  if (world.jobs.empty()) {
    EXPECT_TRUE(world.runs.empty() && world.notes.empty()) << "a batch in parts";
    return -1;
  }
  EXPECT_EQ(world.runs.size(), 1U) << "a batch in parts";
  EXPECT_EQ(world.runs.at(0).exit_code, world.jobs[0].launches) << "a batch in parts";
  EXPECT_EQ(world.notes.at("number"), std::to_string(world.jobs[0].launches)) << "in parts";
  return static_cast<int>(world.jobs[0].launches);
}

}  // namespace muster
