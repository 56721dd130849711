// Runs of Gavel's policies on a table of throughputs of our own, under its preset: for tests that
// say in a line which jobs, which cluster and which policy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "run/assembly/simulation.h"
#include "run/config/load_config.h"
#include "support/simulation.h"
#include "support/temporary_folder.h"

namespace muster {

class GavelFixture : public ::testing::Test {
 protected:
  GavelFixture();

  Result<RunConfig> try_config(const std::string& toml) const;
  RunConfig config(const std::string& toml) const;
  // What a sweep begins with: the same, not completed.
  RunConfig base(const std::string& toml) const;

  // Jobs that the generator draws, on a small cluster; `more` is of the description, `params` of
  // the generator.
  std::string drawn_toml(const std::string& policy, const std::string& more = {},
                         const std::string& params = {}) const;
  RunConfig drawn(const std::string& policy, const std::string& more = {},
                  const std::string& params = {}) const {
    return config(drawn_toml(policy, more, params));
  }
  // A policy with the defects of Gavel's code, from the name of the one without.
  static std::string as_coded(std::string_view name) {
    return "gavel-as-coded:policy=" + std::string(name.substr(std::string_view("gavel-").size()));
  }
  // Jobs of a trace in Gavel's form; `workload` is of the table of that name.
  RunConfig traced(const std::string& policy, const std::string& rows, const std::string& cluster,
                   const std::string& more = {}, const std::string& workload = {});
  static std::string row(const std::string& type, int gpus, double steps, double arrival);

  struct Outcome {
    RunLog log;
    Metrics metrics;
    std::string error;
    std::vector<std::string> notes;
    bool complete = false;
  };
  static Outcome run(const RunConfig& config, SaveOptions save = {});
  static std::vector<std::string> records(const RunLog& log);

  TemporaryFolder folder_;
  std::string table_;
};

}  // namespace muster
