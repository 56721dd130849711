#include "report/perfetto.h"

#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fake_run.h"
#include "report/result_folder.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

TEST(Perfetto, ShowsEveryJobOnItsNodesWithoutOverlap) {
  TemporaryFolder folder;
  Symbols symbols;
  auto writer = ResultWriter::open({.folder = folder.path() / "run"}, symbols);
  ASSERT_TRUE(writer);
  const auto jobs = play({.jobs = 200, .mean_gap = 60, .shortest_first = true}, symbols, **writer);
  ASSERT_TRUE((*writer)->finish({}));
  ASSERT_TRUE(
      write_perfetto(*ResultFolder::open(folder.path() / "run"), folder.path() / "trace.json"));
  const auto trace = nlohmann::json::parse(folder.read("trace.json"));
  double held = 0;
  std::map<std::pair<int, int>, std::map<double, double>> lines;  // per line: start -> end
  int nodes = 0;
  int counters = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "M" && event["args"]["name"].get<std::string>().rfind("node ", 0) == 0)
      ++nodes;
    if (event["ph"] == "C") ++counters;
    if (event["ph"] != "X") continue;
    const double start = event["ts"];
    const double length = event["dur"];
    held += length / 1e6 * event["args"]["gpus here"].get<double>();
    lines[{event["pid"], event["tid"]}].emplace(start, start + length);
  }
  double expected = 0;
  for (const JobRecord& job : jobs) expected += job.gpu_seconds;
  EXPECT_NEAR(held, expected, 1e-6 * expected) << "GPU-seconds add up";
  EXPECT_EQ(nodes, 4);
  EXPECT_GT(counters, 10);
  for (const auto& [line, slices] : lines) {
    double free = 0;
    for (const auto& [start, end] : slices) {
      EXPECT_GE(start, free) << "slices of line " << line.second << " overlap";
      free = end;
    }
  }
}

TEST(Perfetto, TellsWhenItCannot) {
  TemporaryFolder folder;
  Symbols symbols;
  auto writer = ResultWriter::open({.folder = folder.path() / "run", .decisions = false}, symbols);
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->finish({}));
  const auto result = ResultFolder::open(folder.path() / "run");
  EXPECT_FALSE(write_perfetto(*result, folder.path() / "trace.json"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "trace.json"));
}

}  // namespace
}  // namespace muster
