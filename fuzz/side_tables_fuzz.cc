// Files that stand beside a trace, from anywhere: forecasts, prices, estimates and models by job,
// co-location profiles, measured applications, golden jobs. The first byte chooses the reader.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzzed_file.h"
#include "run/assembly/job_tables.h"
#include "run/assembly/prices.h"
#include "run/experiment/golden.h"
#include "workload/perf/colocation_files.h"
#include "workload/perf/training_files.h"

namespace {

using namespace muster;

std::vector<JobSpec> two_jobs() {
  std::vector<JobSpec> jobs(2);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].id = JobId{static_cast<std::uint32_t>(i)};
    jobs[i].name = i == 0 ? "a" : "b";
    jobs[i].gpus = 1;
    jobs[i].duration = 60;
  }
  return jobs;
}

void read_as(int reader, std::string_view text) {
  Symbols symbols;
  switch (reader) {
    case 0: {
      ForecastConfig config;
      config.file = fuzzed_file("table.csv", text);
      (void)load_forecast(config);
      return;
    }
    case 1: {
      PricesConfig config;
      config.file = fuzzed_file("table.csv", text);
      ClusterSpec cluster = uniform_cluster(1, 8);
      cluster.nodes[0].gpu_type = symbols.intern("v100");
      (void)load_prices(config, cluster, symbols);
      return;
    }
    case 2:
    case 3: {
      WorkloadConfig config;
      (reader == 2 ? config.estimates.file : config.models) = fuzzed_file("table.csv", text);
      std::vector<JobSpec> jobs = two_jobs();
      if (add_job_tables(jobs, config, symbols) && reader == 2) {
        for (const JobSpec& job : jobs) {
          if (!(job.estimate >= 0)) std::abort();
        }
      }
      return;
    }
    case 4:
    case 5: {
      ColocationFiles files;
      (reader == 4 ? files.profiles : files.pairs) = fuzzed_file("table.csv", text);
      (void)load_colocation(files, {}, symbols);
      return;
    }
    case 6: {
      const std::size_t half = text.size() / 2;
      fuzzed_file("placements.csv", text.substr(0, half));
      fuzzed_file("scalability.csv", text.substr(half));
      fuzzed_file("validation-64.csv", text);
      (void)read_training(fuzz_folder().string(), "app");
      return;
    }
    default: {
      const bool json = reader == 7;
      const auto jobs = read_golden(fuzzed_file(json ? "golden.json" : "golden.csv", text), {});
      if (!jobs) return;
      for (std::size_t i = 1; i < jobs->size(); ++i) {
        if ((*jobs)[i].id < (*jobs)[i - 1].id) std::abort();
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr int kReaders = 9;
  read_as(data[0] % kReaders, {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
