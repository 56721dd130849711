// Golden values: the results of a published system, job by job, and where such files are found.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/ids.h"

namespace muster {

struct GoldenJob {
  long long id = 0;
  Seconds submit = 0;
  Seconds end = 0;
  Seconds start = kNever;    // kNever: not recorded
  long long preempted = -1;  // times; -1: not recorded
  Seconds jct = kNever;      // kNever: not recorded
  std::string outcome;       // met, late, declined or best_effort; empty: not recorded
};

// A file of golden jobs, and how to read it: CSV, or with tabs if its name ends in .tsv. JSON of
// the form {"100": [submit, end]} needs nothing but the path.
struct GoldenSource {
  std::string file;  // empty: none
  // Of CSV, only the lines count whose columns have these values.
  std::map<std::string, std::string, std::less<>> where = {};
  // Columns of CSV; those without a name are not compared.
  std::string submit = "submit_s";
  std::string start = {};
  std::string end = "end_s";
  std::string jct = {};  // the completion time, where that is what was recorded; then no `end`
  std::string preempted = {};
  std::string outcome = {};  // what became of its deadline; a declined job needs no end
  std::string id = "job_id";
  bool trace_ids = false;  // `id` is the trace's own id, not the number of the job in the run
};

// The jobs in the file at `path`, packed or plain, in order of their ids.
Result<std::vector<GoldenJob>> read_golden(const std::string& path, const GoldenSource& source);

// The file of that path in the data folder, or in the folder that MUSTER_SHARED names (default
// ../shared). The error says where it was looked for.
Result<std::string> find_reference_file(const std::string& relative);

}  // namespace muster
