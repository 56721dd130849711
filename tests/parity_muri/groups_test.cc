// Periods, efficiencies and groups against small cases answered by the original.
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "perf/interleave.h"
#include "policy/muri/group_rounds.h"
#include "support/paths.h"
#include "workload/trace_reader.h"

namespace muster {
namespace {

// One job per (model, GPUs), from the traces: each pair has one profile in all of them.
std::map<std::pair<std::string, int>, JobSpec> profiles() {
  std::map<std::pair<std::string, int>, JobSpec> found;
  for (const char* name : {"trace1", "trace2", "trace4"}) {
    Symbols symbols;
    const auto trace =
        load_trace((shared_dir() / "data/muri" / name).string() + ".csv", {}, symbols);
    if (!trace) continue;
    for (const JobSpec& job : trace->jobs) found[{symbols.text(job.model), job.gpus}] = job;
  }
  return found;
}

std::vector<std::vector<std::string>> rows_of(const char* file) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream in(shared_dir() / "golden/muri" / file);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::vector<std::string> row;
    for (const auto cell : split(trim(line), ',')) row.emplace_back(trim(cell));
    rows.push_back(row);
  }
  return rows;
}

TEST(MuriUnits, PeriodsAndEfficiencies) {
  MUSTER_NEEDS_SHARED("golden/muri/unit_period.csv");
  const auto known = profiles();
  int rows = 0;
  for (const auto& row : rows_of("unit_period.csv")) {
    const int gpus = static_cast<int>(*parse_integer(row[0]));
    std::vector<const JobSpec*> members;
    std::vector<StageTimes> seconds;
    for (const auto model : split(row[1], '+')) {
      const JobSpec& job = known.at({std::string(model), gpus});
      members.push_back(&job);
      StageTimes times{};
      for (std::size_t i = 0; i < kStages; ++i) times[i] = job.stage_ms[i] / 1000;
      seconds.push_back(times);
    }
    const Interleaving rule;
    EXPECT_EQ(bare_period(seconds, StageOrder::kBest, true), *parse_real(row[2])) << row[1];
    EXPECT_EQ(bare_period(seconds, StageOrder::kWorst, true), *parse_real(row[3])) << row[1];
    EXPECT_EQ(rule.period(members), *parse_real(row[4])) << row[1];
    EXPECT_EQ(rule.efficiency(members), *parse_real(row[5])) << row[1];
    double serial = 0;
    for (const JobSpec* job : members) serial += rule.solo(*job);
    EXPECT_EQ(serial, *parse_real(row[6])) << row[1];
    EXPECT_EQ(rule.period(members) / serial > 1, row[7] == "1") << row[1];
    ++rows;
  }
  EXPECT_EQ(rows, 13);
}

TEST(MuriUnits, Groups) {
  MUSTER_NEEDS_SHARED("golden/muri/unit_grouping.csv");
  const auto known = profiles();
  int rows = 0;
  for (const auto& row : rows_of("unit_grouping.csv")) {
    GroupingOptions options;
    options.largest = static_cast<int>(*parse_integer(row[1]));
    GroupRounds rounds(options);
    rounds.use(Interleaving{});
    std::vector<GroupRounds::Bucket> buckets;
    long long needed = 0;
    std::uint32_t next = 0;
    for (const auto part : split(row[2], ';')) {
      const auto colon = trim(part).find(':');
      GroupRounds::Bucket bucket{static_cast<int>(*parse_integer(trim(part).substr(0, colon))), {}};
      for (const auto model : split(trim(part).substr(colon + 1), ' ')) {
        const JobSpec& job = known.at({std::string(model), bucket.gpus});
        bucket.members.push_back({Slot{next++}, rounds.profile(job)});
        needed += bucket.gpus;
      }
      buckets.push_back(bucket);
    }
    std::string ours;
    int last = -1;
    for (const auto& group : rounds.plan(buckets, needed, *parse_integer(row[0]))) {
      if (group.bucket != last) {
        ours += fmt::format("{}{}:", last < 0 ? "" : " ; ",
                            buckets[static_cast<std::size_t>(group.bucket)].gpus);
      } else {
        ours += ' ';
      }
      last = group.bucket;
      ours += '[';
      for (int i = 0; i < group.size; ++i) {
        ours += fmt::format("{}{}", i > 0 ? " " : "",
                            index(group.members[static_cast<std::size_t>(i)].slot));
      }
      ours += ']';
    }
    EXPECT_EQ(ours, row[3]) << "capacity " << row[0] << ", groups of " << row[1];
    ++rows;
  }
  EXPECT_EQ(rows, 10);
}

}  // namespace
}  // namespace muster
