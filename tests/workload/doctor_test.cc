#include "workload/doctor.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/temporary_folder.h"
#include "workload/cluster_file.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One line per thing that can be wrong.
constexpr const char* kSick =
    "job_id,submit_s,duration_s,gpus,min_gpus,max_gpus,deadline_s,estimate_s,partition,gpu_type,"
    "cpus\n"
    "fine,10,60,1,,,,,,,\n"                   // 2
    "broken,10,x,1,,,,,,,\n"                  // 3 unreadable
    "empty,10,,1,,,,,,,\n"                    // 4 missing
    "huge,10,60,64,,,,,,,\n"                  // 5 larger than the cluster
    "fine,10,60,1,,,,,,,\n"                   // 6 repeated
    "fine,11,61,1,,,,,,,\n"                   // 7 same name
    "early,5,60,1,,,,,,,\n"                   // 8 unsorted
    "nan,nan,60,1,,,,,,,\n"                   // 9 not finite
    "far,1e13,60,1,,,,,,,\n"                  // 10 overflow, late
    "before,-5,60,1,,,,,,,\n"                 // 11 negative submit, unsorted
    "minus,12,-60,1,,,,,,,\n"                 // 12 negative duration
    "lessgpus,13,60,-1,,,,,,,\n"              // 13 negative GPUs
    "nogpus,14,60,0,,,,,,,\n"                 // 14 no GPUs
    "toomany,15,60,2000000,,,,,,,\n"          // 15 too many, larger than the cluster
    "zero,16,0,1,,,,,,,\n"                    // 16 zero duration
    "late,20000000000,60,1,,,,,,,\n"          // 17 late
    "toolate,30000000000,60,1,,,5,,,,\n"      // 18 late, early deadline
    "range,30000000001,60,4,5,2,,,,,\n"       // 19 late, elastic range
    "amount,30000000002,60,1,,,,-5,,,\n"      // 20 late, negative amount
    "lost,30000000003,60,1,,,,,reserch,,\n"   // 21 late, unknown partition
    "typed,30000000004,60,1,,,,,,v10,\n"      // 22 late, unknown GPU type
    "cores,30000000005,60,1,,,,,,v100,99\n";  // 23 late, too much host

class DoctorTest : public ::testing::Test {
 protected:
  RawTrace raw(const std::string& content) {
    TraceOptions options;
    options.examples = 100;
    auto trace = read_raw(folder_.write("trace.csv", content), options, symbols_);
    if (!trace) {
      ADD_FAILURE() << trace.error().message;
      return {};
    }
    return std::move(*trace);
  }
  // Some of its nodes belong to a partition and have a type.
  DoctorOptions on_cluster() {
    cluster_ = uniform_cluster(4, 8);
    cluster_.nodes[0].partition = symbols_.intern("research");
    cluster_.nodes[1].gpu_type = symbols_.intern("v100");
    cluster_.nodes[1].cpus = 64;
    DoctorOptions options;
    options.cluster = &cluster_;
    options.symbols = &symbols_;
    return options;
  }
  static const Finding* find(const Diagnosis& diagnosis, std::string_view name) {
    for (const Finding& finding : diagnosis.findings) {
      if (finding.name == name) return &finding;
    }
    return nullptr;
  }

  TemporaryFolder folder_;
  Symbols symbols_;
  ClusterSpec cluster_;
};

TEST_F(DoctorTest, FindsEverythingWithItsLine) {
  const DoctorOptions options = on_cluster();
  const Diagnosis diagnosis = examine(raw(kSick), options);
  const std::vector<std::pair<std::string, std::vector<std::uint64_t>>> expected = {
      {"unreadable", {3}},
      {"missing-field", {4}},
      {"larger-than-cluster", {5, 15}},
      {"repeated-job", {6}},
      {"same-name", {7}},
      {"unsorted", {8, 11, 12}},
      {"not-finite", {9}},
      {"overflow", {10}},
      {"negative-submit", {11}},
      {"negative-duration", {12}},
      {"negative-gpus", {13}},
      {"no-gpus", {14}},
      {"too-many-gpus", {15}},
      {"zero-duration", {16}},
      {"late-time", {10, 17, 18, 19, 20, 21, 22, 23}},
      {"unknown-partition", {21}},
      {"unknown-gpu-type", {22}},
      {"too-much-host", {23}},
      {"early-deadline", {18}},
      {"elastic-range", {19}},
      {"negative-amount", {20}}};
  for (const auto& [name, lines] : expected) {
    if (name == "unsorted") continue;
    const Finding* finding = find(diagnosis, name);
    ASSERT_NE(finding, nullptr) << name;
    EXPECT_EQ(finding->count, lines.size()) << name;
    for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), 3); ++i) {
      EXPECT_EQ(finding->examples[i].line, lines[i]) << name;
      EXPECT_FALSE(finding->examples[i].what.empty()) << name;
    }
    EXPECT_FALSE(finding->sentence.empty());
    EXPECT_FALSE(finding->repair.empty());
  }
  EXPECT_EQ(find(diagnosis, "unsorted")->examples[0].line, 8U);
  EXPECT_EQ(diagnosis.findings.size(), expected.size());
  EXPECT_TRUE(diagnosis.has_errors());
  EXPECT_TRUE(
      std::is_sorted(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; }));
}

TEST_F(DoctorTest, UnknownPartitionsAndTypesNameTheNearest) {
  const Diagnosis diagnosis = examine(raw(kSick), on_cluster());
  EXPECT_THAT(find(diagnosis, "unknown-partition")->examples[0].what,
              HasSubstr("no partition 'reserch'; did you mean 'research'?"));
  EXPECT_THAT(find(diagnosis, "unknown-gpu-type")->examples[0].what,
              HasSubstr("no GPU type 'v10'; did you mean 'v100'?"));
}

TEST_F(DoctorTest, EveryPossibleFindingIsTested) {
  const DoctorOptions options = on_cluster();
  const Diagnosis diagnosis = examine(raw(kSick), options);
  for (const Finding& possible : possible_findings()) {
    EXPECT_NE(find(diagnosis, possible.name), nullptr) << possible.name;
  }
}

TEST_F(DoctorTest, RepairLeavesNothingToFind) {
  const DoctorOptions options = on_cluster();
  RawTrace trace = raw(kSick);
  const RepairSummary summary = repair(trace, options);
  EXPECT_TRUE(summary.sorted);
  EXPECT_EQ(summary.moved, -5);
  trace.stats = {};
  const Diagnosis after = examine(trace, options);
  EXPECT_THAT(after.findings, IsEmpty());
  // fine, the second fine, early and before.
  ASSERT_EQ(trace.jobs.size(), 4U);
  EXPECT_EQ(trace.jobs[0].name, "before");
  EXPECT_EQ(trace.jobs[0].submit, 0);
  EXPECT_EQ(trace.jobs[3].name, "fine#2");
  EXPECT_EQ(trace.jobs[3].submit, 16);
}

TEST_F(DoctorTest, RepairMendsWhatItNeedNotDrop) {
  RawTrace trace =
      raw("job_id,submit_s,duration_s,gpus,min_gpus,max_gpus,deadline_s,estimate_s,cpus\n"
          "a,10,60,1,,,5,,\nb,11,60,4,5,2,,,\nc,12,60,1,,,,-5,-1\n");
  const RepairSummary summary = repair(trace, {});
  EXPECT_EQ(summary.dropped, 0U);
  EXPECT_EQ(summary.changed, 3U);
  EXPECT_FALSE(summary.sorted);
  EXPECT_EQ(trace.jobs[0].deadline, kNever);
  EXPECT_EQ(trace.jobs[1].max_gpus, 0);
  EXPECT_EQ(trace.jobs[2].estimate, 0);
  EXPECT_EQ(trace.jobs[2].cpus, 0);
}

TEST_F(DoctorTest, NewNamesCollideWithNone) {
  RawTrace trace = raw("job_id,submit_s,duration_s,gpus\na,1,1,1\na,2,1,1\na#2,3,1,1\na,4,1,1\n");
  repair(trace, {});
  ASSERT_EQ(trace.jobs.size(), 4U);
  EXPECT_EQ(trace.jobs[1].name, "a#3");
  EXPECT_EQ(trace.jobs[2].name, "a#2");
  EXPECT_EQ(trace.jobs[3].name, "a#4");
}

TEST_F(DoctorTest, PartitionsTypesAndQuotasLimitWhatFits) {
  const auto cluster = parse_cluster_text(
      "[[nodes]]\ngpus = 8\ncount = 2\npartition = \"a\"\n[[nodes]]\ngpus = 8\npartition = "
      "\"b\"\ngpu_type = \"t4\"\n"
      "[[partitions]]\nname = \"a\"\nquota = 12\n",
      "cluster", symbols_);
  ASSERT_TRUE(cluster) << cluster.error().message;
  DoctorOptions options;
  options.cluster = &*cluster;
  options.symbols = &symbols_;
  options.examples = 10;
  const Diagnosis diagnosis =
      examine(raw("job_id,submit_s,duration_s,gpus,min_gpus,max_gpus,partition,gpu_type\n"
                  "fits,0,1,12,,,a,\nquota,1,1,13,,,a,\nother,2,1,9,,,b,\ntyped,3,1,9,,,,"
                  "t4\nshrinks,4,1,16,4,16,a,\n"
                  "all,5,1,24,,,,\n"),
              options);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  const Finding& finding = diagnosis.findings[0];
  ASSERT_EQ(finding.examples.size(), 3U);
  EXPECT_EQ(finding.examples[0].line, 3U);
  EXPECT_THAT(finding.examples[0].what, HasSubstr("13 GPUs, of 12"));
  EXPECT_EQ(finding.examples[1].line, 4U);
  EXPECT_EQ(finding.examples[2].line, 5U);
}

TEST_F(DoctorTest, HealthyTracesHaveNoFindings) {
  EXPECT_THAT(examine(raw("job_id,submit_s,duration_s,gpus\na,1,1,1\nb,2,1,1\n"), {}).findings,
              IsEmpty());
}

TEST_F(DoctorTest, PhillyIsUnsortedAndOtherwiseFine) {
  MUSTER_NEEDS_SHARED("data/philly/philly.csv");
  const auto trace = read_raw((shared_dir() / "data/philly/philly.csv").string(), {}, symbols_);
  ASSERT_TRUE(trace) << trace.error().message;
  const Diagnosis diagnosis = examine(*trace, {});
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].name, "unsorted");
  EXPECT_EQ(diagnosis.findings[0].count, 44878U);
}

}  // namespace
}  // namespace muster
