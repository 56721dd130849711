// The September of the Venus cluster, as the tests and benches of Lucid use it: jobs, virtual
// clusters, estimates, forecast and workload tables from the shared folder, which a machine may or
// may not have.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/symbols.h"
#include "model/cluster_spec.h"
#include "model/job_spec.h"
#include "perf/forecast.h"
#include "perf/perf_model.h"

namespace muster {

// A table of text by column name; packed files are unpacked.
struct TestTable {
  std::map<std::string, std::size_t> columns;
  std::vector<std::vector<std::string>> rows;
  const std::string& at(std::size_t row, const std::string& column) const;
  double number(std::size_t row, const std::string& column) const;
};
TestTable read_test_table(const std::string& path);

struct Venus {
  Symbols symbols;
  std::vector<JobSpec> jobs;  // in the order of the recorded run; names are the trace's ids
  ClusterSpec cluster;
  std::shared_ptr<const Forecast> forecast;
  std::shared_ptr<const PerfModel> perf;
};

// `estimates` is a file of that folder; negative ones become 1,000 as in the original.
Venus load_venus(const std::string& shared, const std::string& estimates);

}  // namespace muster
