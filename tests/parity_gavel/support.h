// What the parity tests with Gavel share: its runs as descriptions of ours, and its golden values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "run/config/config.h"

namespace muster {

inline constexpr std::string_view kGavelGolden = "golden/gavel/jct_per_job.tsv";
inline constexpr std::string_view kGavelTable = "data/gavel/simulation_throughputs.json";

// The rows of a table with a header, by column name.
std::vector<std::map<std::string, std::string>> read_tsv(const std::string& relative);

// One of the configurations of the golden values ("medium222"), with a policy ("fifo_perf") and, if
// it is not the default, its solver.
RunConfig gavel_run(const std::string& config, const std::string& policy,
                    const std::string& solver = "");
// The same from TOML on top of the preset; the generator's jobs are Gavel's.
RunConfig gavel_config(const std::string& toml);

// Completion times by job, of those that finished.
std::map<int, double> completion_times(const RunConfig& config);

}  // namespace muster
