#include "workload/trace_writer.h"

#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hostile_names.h"
#include "support/temporary_folder.h"
#include "workload/trace_reader.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TraceWriterTest : public ::testing::Test {
 protected:
  std::vector<Loss> write(const std::vector<JobSpec>& jobs, const std::string& format,
                          const std::string& name) {
    auto writer = create_trace(path(name), format, symbols_);
    if (!writer) {
      ADD_FAILURE() << writer.error().message;
      return {};
    }
    for (const JobSpec& job : jobs) EXPECT_TRUE((*writer)->write(job));
    const Status finished = (*writer)->finish();
    EXPECT_TRUE(finished);
    EXPECT_EQ((*writer)->jobs(), jobs.size());
    return (*writer)->losses();
  }
  std::vector<JobSpec> read(const std::string& name, const std::string& format) {
    auto trace = load_trace(path(name), {}, symbols_);
    if (!trace) {
      ADD_FAILURE() << trace.error().message;
      return {};
    }
    EXPECT_EQ(trace->stats.format, format);
    return std::move(trace->jobs);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  JobSpec full_job() {
    JobSpec job;
    job.name = "a job, \"quoted\"";
    job.submit = job.arrival = 0.1;
    job.duration = 1.0 / 3;
    job.gpus = 4;
    job.min_gpus = 2;
    job.max_gpus = 8;
    job.deadline = 1e5 + 0.7;
    job.value = 10;
    job.later = {{1e5 + 0.9, 8}, {2e5 + 1.0 / 3, 0.1}};
    job.estimate = 12.125;
    job.cpus = 16.5;
    job.memory_gb = 0.1 + 0.2;
    job.iterations = 1e15 + 1;
    job.batch_size = 256;
    job.priority = -3;
    job.model = symbols_.intern("ResNet-50 (batch size 256)");
    job.user = symbols_.intern(" ann ");
    job.partition = symbols_.intern("vc,1");
    job.gpu_type = symbols_.intern("v100");
    return job;
  }

  TemporaryFolder folder_;
  Symbols symbols_;
};

void expect_equal(const JobSpec& a, const JobSpec& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.submit, b.submit);
  EXPECT_EQ(a.arrival, b.arrival);
  EXPECT_EQ(a.duration, b.duration);
  EXPECT_EQ(a.gpus, b.gpus);
  EXPECT_EQ(a.min_gpus, b.min_gpus);
  EXPECT_EQ(a.max_gpus, b.max_gpus);
  EXPECT_EQ(a.deadline, b.deadline);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.later, b.later);
  EXPECT_EQ(a.estimate, b.estimate);
  EXPECT_EQ(a.cpus, b.cpus);
  EXPECT_EQ(a.memory_gb, b.memory_gb);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.batch_size, b.batch_size);
  EXPECT_EQ(a.priority, b.priority);
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.user, b.user);
  EXPECT_EQ(a.partition, b.partition);
  EXPECT_EQ(a.gpu_type, b.gpu_type);
}

TEST_F(TraceWriterTest, NativeRoundTripIsExact) {
  std::vector<JobSpec> jobs = {full_job()};
  JobSpec plain;
  plain.name = "1";
  plain.submit = plain.arrival = 7;
  plain.duration = 3600;
  jobs.push_back(plain);
  EXPECT_THAT(write(jobs, "muster", "trace.csv"), IsEmpty());
  const std::vector<JobSpec> again = read("trace.csv", "muster");
  ASSERT_EQ(again.size(), 2U);
  expect_equal(again[0], jobs[0]);
  expect_equal(again[1], jobs[1]);
}

TEST_F(TraceWriterTest, NativeRoundTripOfRandomNumbersIsExact) {
  std::mt19937_64 engine(1);
  std::vector<JobSpec> jobs(500);
  double submit = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto draw = [&engine] {
      return static_cast<double>(engine() >> 11) / 9007199254740992.0;
    };
    submit += draw();
    jobs[i].name = std::to_string(i);
    jobs[i].submit = jobs[i].arrival = submit;
    jobs[i].duration = draw() * 1e6;
    jobs[i].memory_gb = draw();
    jobs[i].deadline = submit + draw();
  }
  write(jobs, "muster", "trace.csv.zst");
  const std::vector<JobSpec> again = read("trace.csv.zst", "muster");
  ASSERT_EQ(again.size(), jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) expect_equal(again[i], jobs[i]);
}

TEST_F(TraceWriterTest, EveryFormatCarriesItsCoreAndNamesItsLosses) {
  JobSpec job;
  job.name = "x";
  job.submit = job.arrival = 100;
  job.duration = 50;
  job.gpus = 2;
  JobSpec second = job;
  second.name = "y";
  second.submit = second.arrival = 160;
  for (const WritableFormat& format : writable_formats()) {
    const std::string name(format.name);
    write({job, second}, name, name);
    const std::vector<JobSpec> again = read(name, name);
    ASSERT_EQ(again.size(), 2U) << name;
    EXPECT_EQ(again[1].submit - again[0].submit, 60) << name;
    EXPECT_EQ(again[1].duration, 50) << name;
    EXPECT_EQ(again[1].gpus, 2) << name;

    const std::vector<Loss> losses = write({full_job()}, name, name);
    std::string text;
    for (const Loss& loss : losses) {
      EXPECT_EQ(loss.jobs, 1U);
      text += loss.what + "; ";
    }
    if (name == "muster") {
      EXPECT_EQ(text, "");
    } else {
      EXPECT_THAT(text, HasSubstr("the smallest and largest GPU count; ")) << name;
      EXPECT_THAT(text, HasSubstr("the GPU type; ")) << name;
    }
  }
}

TEST_F(TraceWriterTest, LossesOfEachFormat) {
  const auto texts = [this](const std::string& format) {
    std::string text;
    for (const Loss& loss : write({full_job()}, format, "trace")) text += loss.what + "; ";
    return text;
  };
  EXPECT_THAT(texts("tiresias"), HasSubstr("fractions of seconds"));
  EXPECT_THAT(texts("gavel"), HasSubstr("the duration (the steps were written)"));
  EXPECT_THAT(texts("swf"), HasSubstr("numbers were written"));
  EXPECT_THAT(texts("philly-csv"), HasSubstr("the model"));
}

TEST_F(TraceWriterTest, GavelKeepsDeadlinesAndBatchSizes) {
  JobSpec job;
  job.duration = job.iterations = 200;
  job.deadline = 300;
  job.model = symbols_.intern("LM");
  job.batch_size = 32;
  EXPECT_THAT(write({job}, "gavel", "trace"), IsEmpty());
  const std::vector<JobSpec> again = read("trace", "gavel");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].deadline, 300);
  EXPECT_EQ(symbols_.text(again[0].model), "LM (batch size 32)");
  EXPECT_EQ(again[0].batch_size, 32);
}

TEST_F(TraceWriterTest, LineBreaksInNamesDoNotBreakLines) {
  JobSpec job;
  job.name = "two\nlines";
  job.duration = 1;
  const std::vector<Loss> losses = write({job}, "muster", "trace");
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_THAT(losses[0].what, HasSubstr("line breaks"));
  EXPECT_EQ(read("trace", "muster").at(0).name, "two lines");
}

TEST_F(TraceWriterTest, UnknownFormatsAreErrors) {
  const auto writer = create_trace(path("trace"), "sacct", symbols_);
  ASSERT_FALSE(writer);
  EXPECT_THAT(writer.error().message, HasSubstr("known: muster, gavel, tiresias, philly-csv, swf"));
}

TEST_F(TraceWriterTest, KeepsAnyNameWithoutLineBreaks) {
  std::vector<JobSpec> jobs;
  for (const std::string& name : hostile_names("\r\n")) {
    JobSpec& job = jobs.emplace_back(full_job());
    job.name = name;
    job.model = job.user = job.partition = job.gpu_type = symbols_.intern(name);
  }
  EXPECT_THAT(write(jobs, "muster", "hostile.csv"), IsEmpty());
  const std::vector<JobSpec> back = read("hostile.csv", "muster");
  ASSERT_EQ(back.size(), jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) expect_equal(back[i], jobs[i]);
}

}  // namespace
}  // namespace muster
