// What every plug-in is put through: the rows of the tables, a trace and two clusters. A new row in
// a table gets all the tests without a line here.
#pragma once

#include <string>
#include <vector>

#include "support/simulation.h"

namespace muster {

// A row with the parameters of one case: its defaults, and where it can be told to be strict or to
// backfill, both ways.
template <typename Row>
std::vector<Choice> choices_of(const std::vector<Row>& table) {
  std::vector<Choice> choices;
  for (const Row& row : table) {
    choices.push_back({std::string(row.name)});
    for (const ParamInfo& info : row.params) {
      if (info.name != "strict" && info.name != "backfill") continue;
      const bool initial = info.initial == "true";
      choices.push_back(
          {std::string(row.name), {{std::string(info.name), initial ? "false" : "true"}}});
    }
  }
  return choices;
}

// "las", "fifo_strict_false": a name that GoogleTest accepts.
std::string case_name(const Choice& choice);

// Sixty jobs of all kinds (elastic, with estimates, deadlines, priorities, models), at most 8 GPUs
// each, from a seed.
std::vector<JobSpec> mixed_jobs(Symbols& symbols, std::uint64_t seed);

// Three equal nodes of four GPUs.
ClusterSpec plain_cluster();
// Nodes of two types, two partitions of their own nodes, one with a quota on open nodes.
ClusterSpec divided_cluster(Symbols& symbols);
// Gives some of the jobs partitions and types of that cluster.
void spread_over(std::vector<JobSpec>& jobs, Symbols& symbols);

// A scenario with these jobs on the plain cluster, with costs and a performance model.
Scenario mixed_scenario(std::uint64_t seed = 1);
Scenario divided_scenario(std::uint64_t seed = 1);

// The job with all times, sizes and losses that a run told of it, for comparing runs.
std::string line_of(const JobRecord& record);
std::vector<std::string> transcript(const RunLog& log);
// The same except for lines that say who is in the way: more turns have more of them.
std::vector<std::string> deeds(const RunLog& log);
// The first line in which two transcripts differ, as both have it; empty: they are the same.
std::string first_difference(const std::vector<std::string>& one,
                             const std::vector<std::string>& other);

}  // namespace muster
