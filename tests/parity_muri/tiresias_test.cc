// Tiresias' own simulator on its 60 jobs: mean completion, last end and 99th percentile of every
// policy that it can run.
#include <algorithm>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "support/paths.h"
#include "support/simulation.h"
#include "workload/byte_input.h"
#include "workload/trace_reader.h"

namespace muster {
namespace {

struct Row {
  std::string cluster;
  std::string scheme;
  std::string schedule;
  int jobs = 0;
  double mean = 0;
  double makespan = 0;
  double p99 = 0;
};

std::vector<Row> rows() {
  std::vector<Row> found;
  std::ifstream file(shared_dir() / "golden/muri/tiresias_60job.csv");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const auto cell = split(trim(line), ',');
    if (cell.size() < 10) continue;
    Row row;
    row.cluster = cell[0];
    row.scheme = cell[1];
    row.schedule = cell[2];
    row.jobs = static_cast<int>(parse_integer(cell[4]).value_or(0));
    row.mean = parse_real(cell[5]).value_or(0);
    row.makespan = parse_real(cell[6]).value_or(0);
    row.p99 = parse_real(cell[7]).value_or(0);
    found.push_back(row);
  }
  return found;
}

// The names of Tiresias' flag, in ours.
Choice policy_of(const std::string& schedule, const std::string& durations) {
  if (schedule == "fifo") return {"fifo"};
  if (schedule == "fjf") return {"fifo", {{"strict", "false"}}};
  if (schedule == "sjf") return {"least-gpus", {{"preempt", "true"}, {"strict", "false"}}};
  if (schedule == "lpjf") return {"longest-pending-as-coded"};
  if (schedule == "shortest") return {"srtf"};
  if (schedule == "shortest-gpu") return {"srsf-as-coded"};
  if (schedule == "shortest-expected") {
    return {"shortest-expected-as-coded", {{"durations", durations}}};
  }
  if (schedule == "multi-dlas-gpu") return {"multi-dlas-gpu-as-coded"};
  if (schedule == "gandiva") return {"gandiva-sets-as-coded"};
  Choice dlas{"dlas-gpu-as-coded"};
  if (schedule == "dlas") dlas.params["service"] = "seconds";
  if (schedule == "dlas-gpu-pack") dlas.params["pack"] = "true";
  if (schedule == "dlas-gpu-gittins") {
    dlas.params["order"] = "gittins";
    dlas.params["durations"] = durations;
  }
  static const std::map<std::string, std::string> kPromote = {{"dlas-gpu-05", "0.5"},
                                                              {"dlas-gpu-1", "1"},
                                                              {"dlas-gpu-2", "2"},
                                                              {"dlas-gpu-4", "4"},
                                                              {"dlas-gpu-8", "8"}};
  if (const auto knob = kPromote.find(schedule); knob != kPromote.end()) {
    dlas.params["promote"] = knob->second;
  }
  return dlas;
}

TEST(Tiresias, SixtyJobs) {
  MUSTER_NEEDS_SHARED("golden/muri/tiresias_60job.csv");
  auto symbols = std::make_shared<Symbols>();
  const auto trace = load_trace((shared_dir() / "data/tiresias/60_job.csv").string(), {}, *symbols);
  ASSERT_TRUE(trace) << trace.error().message;
  const auto durations = read_whole((shared_dir() / "data/tiresias/yarn-gput1000.csv").string());
  ASSERT_TRUE(durations) << durations.error().message;
  int compared = 0;
  for (const Row& row : rows()) {
    if (row.jobs == 0) continue;  // it crashed, or it schedules nothing
    Scenario scenario;
    scenario.symbols = symbols;
    scenario.cluster = uniform_cluster(row.cluster == "n4g4" ? 4 : 32, 4);
    scenario.jobs = trace->jobs;
    scenario.scheduling = policy_of(row.schedule, *durations);
    // Its queues count free GPUs whatever the scheme is.
    const bool counts = row.scheme != "yarn" || row.schedule.starts_with("dlas");
    // Under yarn its preemptive policies lose memory at every event until nothing fits any more,
    // and the jobs that are left are never heard of again.
    const bool leaks = !counts && row.jobs != 60;
    for (NodeSpec& node : scenario.cluster.nodes) node.memory_gb = 256;
    scenario.placement = {counts ? "count" : leaks ? "yarn-as-coded" : "yarn"};
    if (row.schedule == "gandiva") scenario.pacing = {"steps"};
    const RunLog log = simulate(scenario);
    const std::string name = fmt::format("{} {} {}", row.cluster, row.scheme, row.schedule);
    ASSERT_EQ(log.jobs.size(), 60U) << name;
    double sum = 0;
    double last = 0;
    std::vector<double> sorted;
    for (const JobRecord& job : log.jobs) {
      if (job.status != JobState::kFinished) continue;
      sorted.push_back(job.completion_time());
      sum += job.completion_time();
      last = std::max(last, job.end);
    }
    ASSERT_EQ(sorted.size(), static_cast<std::size_t>(row.jobs)) << name;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_NEAR(sum / row.jobs, row.mean, 0.000051) << name;
    EXPECT_EQ(last, row.makespan) << name;
    EXPECT_EQ(sorted[static_cast<std::size_t>(0.99 * row.jobs)], row.p99) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 67);
}

}  // namespace
}  // namespace muster
