#include "support/described_run.h"

#include <gtest/gtest.h>

#include "run/assembly/simulation.h"
#include "support/paths.h"

namespace muster {

RunLog run_described(const RunConfig& config) {
  RunLog log;
  const auto complete = complete_config(config);
  if (!complete) {
    ADD_FAILURE() << complete.error().message;
    return log;
  }
  auto simulation = Simulation::make(*complete);
  if (!simulation) {
    ADD_FAILURE() << simulation.error().message;
    return log;
  }
  (*simulation)->observe(log);
  const auto ended = (*simulation)->run();
  EXPECT_TRUE(ended) << (ended ? "" : ended.error().message);
  return log;
}

std::string shared_path(const std::string& name) {
  return (shared_dir() / name).lexically_normal().string();
}

}  // namespace muster
