// ElasticFlow's artifact against Muster: every job's outcome and end second, and the counts, ratio,
// mean completion time and rounds of every run whose results exist. Differences are printed per
// job.
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "support/described_run.h"
#include "support/paths.h"

namespace muster {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<Row> read_rows(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::vector<std::string> header;
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    for (const std::string_view cell : split(trim(line), ',')) cells.emplace_back(cell);
    if (header.empty()) {
      header = cells;
      continue;
    }
    Row row;
    for (std::size_t i = 0; i < cells.size() && i < header.size(); ++i) row[header[i]] = cells[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

struct Workload {
  std::string run;      // as in results.csv
  std::string trace;    // under the shared folder
  std::string cluster;  // shape
  int slot = 240;
  bool t4 = false;
  long long limit = 0;
};

const Workload kFirst25 = {
    "t25_n4g8", "data/elasticflow/elasticflow-traces.tar.gz/195job.csv", "4x8", 240, false, 25};
const Workload kAll195 = {
    "t195_n16g8", "data/elasticflow/elasticflow-traces.tar.gz/195job.csv", "16x8", 240, false, 0};
const Workload kFigure8a = {
    "fig8a_n16g4", "data/elasticflow/elasticVpollux_e.csv", "16x4", 60, true, 0};
const Workload kFigure10 = {
    "fig10_n16g8", "golden/elasticflow/inputs/100jobs_1500lam.csv", "16x8", 240, false, 0};
const Workload kCifar = {
    "cifar5_n1g8", "data/elasticflow/resnet_cifar_trace.csv", "1x8", 240, false, 0};
const Workload kBestEffort = {
    "be_0.5", "golden/elasticflow/inputs/200jobs_900lam_0.5.csv", "8x8", 240, false, 0};
const Workload kFigure9 = {
    "fig9_n8g8", "golden/elasticflow/inputs/1000job_1500lam.csv", "8x8", 240, false, 0};

struct System {
  std::string name;  // as in results.csv
  std::string policy;
  ParamTexts params;
  std::string events;  // of the pacing
};

const System kEfAccess = {"ef-accessctrl", "elasticflow-as-coded", {}, "everything"};
const System kEf = {"ef", "elasticflow-as-coded", {{"admission", "false"}}, "everything"};
const System kEdf = {"edf", "edf-as-coded", {}, "everything"};
const System kEdfAccess = {"edf-accessctrl", "edf-as-coded", {{"admission", "true"}}, "everything"};
const System kGandiva = {"gandiva", "gandiva-as-coded", {}, "arrivals-alone"};
const System kTiresias = {"dlas-gpu", "tiresias-as-coded", {}, "arrivals"};
const System kThemis = {"themis", "themis-as-coded", {}, "every-slot"};

RunLog run_system(const Workload& workload, const System& system) {
  RunConfig config;
  config.workload.trace = shared_path(workload.trace);
  config.workload.rebase = "no";
  config.workload.limit = workload.limit;
  config.cluster.shape = workload.cluster;
  config.pacing = {"gathered",
                   {{"length", std::to_string(workload.slot)}, {"events", system.events}}};
  config.scheduling = {system.policy, system.params};
  config.placement = {"buddy", {}};
  const char* tables =
      workload.t4 ? "data/elasticflow/throughputs_T4" : "data/elasticflow/throughputs_A100";
  config.perf = {{"throughput-tables-as-coded",
                  {{"folder", shared_path(tables)}, {"gpus", workload.t4 ? "t4" : "a100"}}}};
  return run_described(config);
}

std::string outcome_of(const JobRecord& job) {
  if (job.status == JobState::kRefused) return "declined";
  if (!job.has_deadline()) return "best_effort";
  return job.met_deadline() ? "met" : "late";
}

// Compares one run with its golden files. Where the optimum of the original is not unique, jobs may
// differ; then only the ratio is held, to a part `ratio_slack` of itself.
void compare(const Workload& workload, const System& system, double ratio_slack = 0) {
  const std::string name = workload.run + "__" + system.name;
  const RunLog ours = run_system(workload, system);
  std::map<std::string, const JobRecord*> by_name;
  double completion = 0;
  int met = 0;
  int refused = 0;
  int late = 0;
  int finished = 0;
  for (const JobRecord& job : ours.jobs) {
    by_name[job.name] = &job;
    const std::string outcome = outcome_of(job);
    met += outcome == "met" ? 1 : 0;
    refused += outcome == "declined" ? 1 : 0;
    late += outcome == "late" ? 1 : 0;
    if (outcome == "declined") continue;
    ++finished;
    completion += std::trunc(job.completion_time());
  }
  int different = 0;
  const std::filesystem::path golden =
      shared_dir() / "golden/elasticflow/outcomes" / (name + ".csv");
  const std::vector<Row> rows =
      std::filesystem::exists(golden) ? read_rows(golden) : std::vector<Row>{};
  for (const Row& row : rows) {
    const auto found = by_name.find(row.at("job_id"));
    if (found == by_name.end()) {
      ADD_FAILURE() << name << ": job " << row.at("job_id") << " is missing";
      continue;
    }
    const JobRecord& job = *found->second;
    const std::string outcome = outcome_of(job);
    std::string wanted = row.at("outcome");
    if (wanted == "rejected") wanted = "declined";
    const auto end = parse_real(row.at("end_time"));
    const bool equal = outcome == wanted && (outcome == "declined" || (end && *end == job.end));
    if (equal) continue;
    if (++different <= 5) {
      fmt::print("{}: job {}: {} at {}, golden {} at {}\n", name, row.at("job_idx"), outcome,
                 job.end, wanted, row.at("end_time"));
    }
  }
  fmt::print("{}: {} of {} jobs equal, {} rounds\n", name,
             rows.size() - static_cast<std::size_t>(different), rows.size(), ours.turns.size());
  if (ratio_slack == 0) {
    EXPECT_EQ(different, 0) << name << ": jobs that differ";
  }
  for (const Row& row : read_rows(shared_dir() / "golden/elasticflow/results.csv")) {
    if (row.at("run") != workload.run || row.at("schedule") != system.name) continue;
    const double ratio = static_cast<double>(met) / std::max(1, met + late + refused);
    const double wanted = *parse_real(row.at("ratio"));
    EXPECT_NEAR(ratio, wanted, ratio_slack * wanted + 0.00005) << name;
    if (ratio_slack > 0) continue;
    EXPECT_EQ(met, *parse_integer(row.at("accepted"))) << name;
    EXPECT_EQ(refused, *parse_integer(row.at("rejected"))) << name;
    EXPECT_EQ(late, *parse_integer(row.at("late"))) << name;
    EXPECT_EQ(static_cast<long long>(ours.turns.size()), *parse_integer(row.at("rounds"))) << name;
    EXPECT_NEAR(completion / finished, *parse_real(row.at("mean_jct_s")), 0.0501) << name;
  }
}

#define MUSTER_NEEDS_ELASTICFLOW()                       \
  MUSTER_NEEDS_SHARED("golden/elasticflow/results.csv"); \
  MUSTER_NEEDS_SHARED("data/elasticflow/elasticVpollux_e.csv")

TEST(ElasticFlowParity, ElasticFlowWithAdmissionControl) {
  MUSTER_NEEDS_ELASTICFLOW();
  for (const Workload& workload : {kFirst25, kAll195, kFigure8a, kFigure10, kCifar, kBestEffort}) {
    compare(workload, kEfAccess);
  }
}

TEST(ElasticFlowParity, ElasticFlowWithoutAdmissionControl) {
  MUSTER_NEEDS_ELASTICFLOW();
  for (const Workload& workload : {kFirst25, kCifar}) compare(workload, kEf);
}

TEST(ElasticFlowParity, EarliestDeadlineFirst) {
  MUSTER_NEEDS_ELASTICFLOW();
  for (const Workload& workload : {kFirst25, kAll195, kFigure8a, kFigure10, kCifar, kFigure9}) {
    compare(workload, kEdf);
  }
}

TEST(ElasticFlowParity, EarliestDeadlineFirstWithAdmissionControl) {
  MUSTER_NEEDS_ELASTICFLOW();
  for (const Workload& workload : {kFirst25, kCifar, kFigure9}) compare(workload, kEdfAccess);
}

TEST(ElasticFlowParity, Gandiva) {
  MUSTER_NEEDS_ELASTICFLOW();
  for (const Workload& workload : {kFirst25, kAll195, kFigure8a, kFigure10, kCifar}) {
    compare(workload, kGandiva);
  }
}

TEST(ElasticFlowParity, Tiresias) {
  MUSTER_NEEDS_ELASTICFLOW();
  for (const Workload& workload : {kFirst25, kAll195, kFigure8a, kFigure10, kCifar}) {
    compare(workload, kTiresias);
  }
}

TEST(ElasticFlowParity, Themis) {
  MUSTER_NEEDS_ELASTICFLOW();
  compare(kFigure10, kThemis);
  compare(kFirst25, kThemis, 0.02);
  compare(kAll195, kThemis, 0.02);
  compare(kCifar, kThemis, 0.02);
}

// The artifact's own logs of figure 10, made with its code of October 2022.
TEST(ElasticFlowParity, LogsOfFigure10) {
  MUSTER_NEEDS_ELASTICFLOW();
  System elasticflow = kEfAccess;
  elasticflow.params = {{"as_of_2022", "true"}};
  System tiresias = kTiresias;
  tiresias.params = {{"as_of_2022", "true"}};
  for (const System& system : {kEdf, kGandiva, kThemis, tiresias, elasticflow}) {
    const RunLog ours = run_system(kFigure10, system);
    std::map<std::string, Seconds> ends;
    for (const JobRecord& job : ours.jobs) ends[job.name] = job.end;
    int jobs = 0;
    for (const Row& row :
         read_rows(shared_dir() / "golden/elasticflow/figure10" / system.name / "job.csv")) {
      ++jobs;
      EXPECT_EQ(ends[row.at("job_id")], *parse_real(row.at("end_time")))
          << system.name << ": job " << row.at("job_id");
    }
    EXPECT_EQ(jobs, 100) << system.name;
  }
}

}  // namespace
}  // namespace muster
