// The daemon's store: durable submissions per second with many submitters at once, and how long a
// restart takes that finds 10,000 jobs. Arguments: a folder on the disk to measure (default: /tmp).
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "clock.h"
#include "daemon/committer.h"
#include "daemon/sqlite_store.h"

namespace muster::bench {
namespace {

Batch submission(std::uint32_t id) {
  Batch batch;
  StoredJob& job = batch.jobs.emplace_back();
  job.id = JobId{id};
  job.owner = "somebody";
  job.name = fmt::format("training {}", id);
  job.request = fmt::format("{:016x}", id * 0x9e3779b97f4a7c15U);
  job.state = "queued";
  job.description = R"({"command":["python","train.py","--epochs","90"],"gpus":4,"estimate":7200})";
  batch.decisions.push_back({id, 1.0 * id, job.id, "admitted: the queue is open"});
  return batch;
}

bool submit_all(Store& store, int threads, std::uint32_t first, std::uint32_t count) {
  std::vector<std::vector<double>> took(static_cast<std::size_t>(threads));
  std::atomic<bool> fine = true;
  const double seconds = wall_seconds_of([&] {
    Committer committer(store);
    std::vector<std::thread> submitters;
    submitters.reserve(static_cast<std::size_t>(threads));
    for (int t = 0; t < threads; ++t) {
      submitters.emplace_back([&, t] {
        const auto step = static_cast<std::uint32_t>(threads);
        for (auto i = static_cast<std::uint32_t>(t); i < count; i += step) {
          const Moment begin = now();
          if (!committer.commit(submission(first + i))) fine = false;
          took[static_cast<std::size_t>(t)].push_back(seconds_since(begin));
        }
      });
    }
    for (std::thread& submitter : submitters) submitter.join();
  });
  std::vector<double> all;
  for (const std::vector<double>& some : took) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  fmt::print("{:3} submitters: {:8.0f} durable submissions/s, median {:6.2f} ms, p99 {:6.2f} ms\n",
             threads, count / seconds, 1e3 * all[all.size() / 2], 1e3 * all[all.size() * 99 / 100]);
  return fine;
}

int run(const std::filesystem::path& folder) {
  Result<std::unique_ptr<SqliteStore>> store = SqliteStore::open(folder);
  if (!store) {
    fmt::print(stderr, "{}\n", store.error().message);
    return 1;
  }
  std::uint32_t next = 0;
  for (const int threads : {1, 4, 16, 64}) {
    const std::uint32_t count = threads == 1 ? 500 : 3'000;
    if (!submit_all(**store, threads, next, count)) return 1;
    next += count;
  }
  Batch rest;
  for (; next < 10'000; ++next) rest.jobs.push_back(submission(next).jobs[0]);
  for (std::uint32_t job = 0; job < 10'000; ++job) {
    StoredRun& row = rest.runs.emplace_back();
    row.run = {JobId{job}, 1};
    row.gpus.add(NodeId{job % 64}, 0xff);
  }
  if (!(*store)->commit({&rest, 1})) return 1;
  store->reset();

  const Moment begin = now();
  Result<std::unique_ptr<SqliteStore>> again = SqliteStore::open(folder);
  if (!again) return 1;
  const Result<StoredWorld> world = (*again)->load();
  if (!world || world->jobs.size() != 10'000 || world->runs.size() != 10'000) return 1;
  fmt::print("open and load {} jobs and {} runs: {:.0f} ms\n", world->jobs.size(),
             world->runs.size(), 1e3 * seconds_since(begin));
  return 0;
}

}  // namespace
}  // namespace muster::bench

int main(int count, char** arguments) {
  const std::filesystem::path place = count > 1 ? arguments[1] : "/tmp";
  const std::filesystem::path folder = place / fmt::format("muster-bench-store-{}", getpid());
  const int status = muster::bench::run(folder);
  std::filesystem::remove_all(folder);
  return status;
}
