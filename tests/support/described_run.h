// A run as a description makes it, files included, and everything it told: for tests that compare
// with published runs.
#pragma once

#include "run/config/config.h"
#include "support/simulation.h"

namespace muster {

// Runs to the end; what is wrong with the description fails the test and leaves the log empty.
RunLog run_described(const RunConfig& config);

// The path of a file under the shared folder.
std::string shared_path(const std::string& name);

}  // namespace muster
