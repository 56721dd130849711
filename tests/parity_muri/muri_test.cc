// Muri against Muri: average, last and 99th-percentile completion for every recorded run, and every
// job's first start and end where the original's are there.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "support/muri_run.h"
#include "support/paths.h"
#include "workload/byte_input.h"
#include "workload/trace_reader.h"

namespace muster {
namespace {

struct GoldenRow {
  std::string trace;
  std::string policy;
  std::string autopack;
  double mean = 0;
  double makespan = 0;
  double p99 = 0;
  long long turns = 0;
};

// Rows that the file of results lacks, restated.
std::vector<GoldenRow> golden_rows() {
  std::vector<GoldenRow> rows = {
      {"trace4_pr", "SRTF", "-", 1430856.445713, 14272665.007687, 9443500.202528, 2532},
      {"trace4_pr", "SRSF", "-", 1218501.967745, 14426755.371188, 9227908.325506, 2532},
      {"trace4_pr", "Tiresias", "-", 2674022.635595, 12584603.563650, 11219877.952119, 4771},
      {"trace4_pr", "AntMan", "-", 4676092.801213, 11793469.427804, 9940651.790720, 2638},
      {"cluster_trace", "SRTF", "-", 247452.951389, 4066819.995340, 2726257.330000, 800},
      {"cluster_trace", "SRSF", "-", 233909.169400, 4198586.591175, 3080984.527375, 800},
      {"cluster_trace", "Tiresias", "-", 328736.501183, 3991729.080450, 2847184.146585, 1329},
      {"cluster_trace", "AntMan", "-", 619264.663106, 3686803.917376, 1997117.138270, 800},
      {"trace4_pr", "Muri-S", "on", 933290.636097, 10086174.943486, 6560436.069661, 2626},
      {"trace4_pr", "Muri-S", "off", 954225.286623, 9990192.513424, 6575927.928572, 2619},
      {"trace4_pr", "Muri-L", "on", 1474857.946858, 10163495.010163, 6368930.454757, 2639},
      {"trace4_pr", "Muri-L", "off", 1488033.596307, 10104721.762665, 6383955.683033, 2639},
      {"cluster_trace", "Muri-S", "on", 120033.713815, 2663198.680519, 797906.036504, 800},
      {"cluster_trace", "Muri-S", "off", 120273.806047, 2663275.906687, 795175.639108, 800},
      {"cluster_trace", "Muri-L", "on", 127846.003041, 2671191.064545, 869497.072355, 800},
      {"cluster_trace", "Muri-L", "off", 125001.723623, 2671073.274781, 854098.048663, 800},
  };
  std::ifstream file(shared_dir() / "golden/muri/golden_sim.csv");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    line = std::string(trim(line));
    const auto cell = split(line, ',');
    if (cell.size() < 11) continue;
    GoldenRow row;
    row.trace = cell[0];
    row.policy = cell[1];
    row.autopack = cell[2];
    row.mean = parse_real(cell[3]).value_or(0);
    row.makespan = parse_real(cell[4]).value_or(0);
    row.p99 = parse_real(cell[5]).value_or(0);
    row.turns = parse_integer(cell[10]).value_or(0);
    rows.push_back(row);
  }
  return rows;
}

// Of the original: first start, end, seconds it held GPUs.
std::vector<MuriOutcome::Times> golden_jobs(const std::string& file) {
  std::vector<MuriOutcome::Times> jobs;
  const auto text = read_whole((shared_dir() / "golden/muri/per_job" / file).string());
  if (!text) return jobs;
  for (const auto line : split(*text, '\n')) {
    const auto cell = split(trim(line), ',');
    if (cell.size() < 8 || cell[0] == "job_id") continue;
    jobs.push_back(
        {*parse_real(cell[3]), *parse_real(cell[4]), *parse_real(cell[5]), *parse_real(cell[6])});
  }
  return jobs;
}

// Rounded to six decimals there; a job that never waited may differ in the last of them.
void expect_equal_jobs(const MuriOutcome& ours, const std::vector<MuriOutcome::Times>& golden,
                       const std::string& name) {
  ASSERT_EQ(ours.jobs.size(), golden.size()) << name;
  int different = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const bool equal = std::abs(ours.jobs[i].start - golden[i].start) <= 1e-6 &&
                       std::abs(ours.jobs[i].end - golden[i].end) <= 1e-6 &&
                       std::abs(ours.jobs[i].held - golden[i].held) <= 1e-5;
    if (equal) continue;
    if (different++ == 0 || golden[i].end < golden[first].end) first = i;
  }
  EXPECT_EQ(different, 0) << name;
  if (different > 0) {
    ADD_FAILURE() << fmt::format(
        "{}: first of {} is job {}: start {:.6f} end {:.6f} held {:.6f}, golden {:.6f} {:.6f} "
        "{:.6f}",
        name, different, first, ours.jobs[first].start, ours.jobs[first].end, ours.jobs[first].held,
        golden[first].start, golden[first].end, golden[first].held);
  }
  fmt::print("{}: {} of {} jobs equal\n", name, golden.size() - static_cast<std::size_t>(different),
             golden.size());
}

class MuriParity : public testing::TestWithParam<std::string> {};

TEST_P(MuriParity, EqualToSixDecimals) {
  MUSTER_NEEDS_SHARED("golden/muri/golden_sim.csv");
  Symbols symbols;
  const auto trace =
      load_trace((shared_dir() / "data/muri" / (GetParam() + ".csv")).string(), {}, symbols);
  ASSERT_TRUE(trace) << trace.error().message;
  int rows = 0;
  for (const GoldenRow& row : golden_rows()) {
    if (row.trace != GetParam() || row.policy.starts_with("Themis")) continue;
    ++rows;
    const MuriOutcome ours = run_muri({row.policy, row.autopack == "on"}, trace->jobs, symbols);
    const std::string name = fmt::format("{} {} {}", row.trace, row.policy, row.autopack);
    EXPECT_NEAR(ours.mean_jct(), row.mean, 1e-6) << name;
    EXPECT_NEAR(ours.makespan(), row.makespan, 1e-6) << name;
    EXPECT_NEAR(ours.p99_jct(), row.p99, 1e-6) << name;
    if (row.turns != 0) {
      EXPECT_EQ(ours.turns, row.turns) << name;
    }
    std::string file = row.policy == "Muri-L LAS queues" ? "Muri-L-LASqueues" : row.policy;
    file = fmt::format("{}.{}.csv.gz", row.trace, file);
    const bool recorded = row.autopack != "off" &&
                          std::filesystem::exists(shared_dir() / "golden/muri/per_job" / file);
    if (recorded) expect_equal_jobs(ours, golden_jobs(file), name);
    fmt::print("{}: {:.6f} {:.6f} {:.6f}, {} events, {:.3f} s\n", name, ours.mean_jct(),
               ours.makespan(), ours.p99_jct(), ours.turns, ours.seconds);
  }
  EXPECT_GT(rows, 0);
}

// The other traces take minutes: `muster reproduce muri` compares them, job by job as here.
INSTANTIATE_TEST_SUITE_P(Traces, MuriParity,
                         testing::Values("trace1", "trace3", "job_type_1", "cluster_trace"));

}  // namespace
}  // namespace muster
