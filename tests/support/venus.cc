#include "support/venus.h"

#include <cstdio>
#include <cstdlib>
#include <unordered_map>

#include "base/text.h"
#include "perf/colocation.h"
#include "workload/byte_input.h"

namespace muster {

const std::string& TestTable::at(std::size_t row, const std::string& column) const {
  return rows[row][columns.at(column)];
}

double TestTable::number(std::size_t row, const std::string& column) const {
  return *parse_real(at(row, column));
}

TestTable read_test_table(const std::string& path) {
  const auto text = read_whole(path);
  if (!text) {
    std::fprintf(stderr, "%s\n", text.error().message.c_str());
    std::abort();
  }
  TestTable table;
  for (const std::string_view line : split(*text, '\n')) {
    if (trim(line).empty()) continue;
    std::vector<std::string> cells;
    for (const std::string_view cell : split(trim(line), ',')) cells.emplace_back(cell);
    if (table.columns.empty()) {
      for (std::size_t i = 0; i < cells.size(); ++i) table.columns[cells[i]] = i;
    } else {
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

Venus load_venus(const std::string& shared, const std::string& estimates) {
  const std::string folder = shared + "/data/lucid/";
  Venus venus;
  const TestTable nodes = read_test_table(folder + "venus_vc_config.csv");
  for (const auto& row : nodes.rows) {
    NodeSpec node;
    node.partition = venus.symbols.intern(row[0]);
    for (int i = 0; i < std::stoi(row[1]); ++i) venus.cluster.nodes.push_back(node);
  }
  std::unordered_map<std::string, double> estimate;
  const TestTable guesses = read_test_table(folder + estimates);
  for (std::size_t i = 0; i < guesses.rows.size(); ++i) {
    const double value = guesses.number(i, "priority");
    estimate[guesses.at(i, "job_id")] = value < 0 ? 1000 : value;
  }
  std::unordered_map<std::string, std::string> workload;
  const TestTable work = read_test_table(folder + "venus_sept_workloads.csv.gz");
  for (std::size_t i = 0; i < work.rows.size(); ++i) {
    workload[work.at(i, "job_id")] = work.at(i, "model") + "/" + work.at(i, "dataset") + "/" +
                                     work.at(i, "batchsize") +
                                     (work.at(i, "amp") == "1" ? "/amp" : "");
  }
  const TestTable trace = read_test_table(folder + "venus_sept_jobs.csv.gz");
  for (std::size_t i = 0; i < trace.rows.size(); ++i) {
    JobSpec job;
    job.name = trace.at(i, "job_id");
    job.submit = trace.number(i, "submit_time");
    job.arrival = job.submit;
    job.duration = trace.number(i, "duration");
    job.gpus = static_cast<int>(trace.number(i, "gpu_num"));
    job.user = venus.symbols.intern(trace.at(i, "user"));
    job.partition = venus.symbols.intern(trace.at(i, "vc"));
    job.estimate = estimate.at(job.name);
    job.model = venus.symbols.intern(workload.at(job.name));
    venus.jobs.push_back(std::move(job));
  }
  const TestTable load = read_test_table(folder + "Venus_throughput_pred.csv");
  std::vector<Forecast::Slot> slots;
  for (std::size_t i = 0; i < load.rows.size(); ++i) {
    slots.push_back({load.number(i, "pred_gpu_job"), load.number(i, "pred_gpu_num")});
  }
  // Seconds from 2020-04-01 to the first of September; the forecast has a row per ten minutes.
  venus.forecast = std::make_shared<Forecast>(13219200, 600, std::move(slots));
  ColocationOptions tables;
  tables.profiles = folder + "single_data.csv";
  tables.pairs = folder + "colocate_info.csv";
  tables.undisturbed = {"NeuMF", "ResNet50", "BERT", "Transformer"};
  tables.estimate_missing = false;
  auto perf = make_colocation(tables, venus.symbols);
  if (!perf) {
    std::fprintf(stderr, "%s\n", perf.error().message.c_str());
    std::abort();
  }
  venus.perf = std::move(*perf);
  return venus;
}

}  // namespace muster
