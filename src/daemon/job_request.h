// A submission: a program and what it needs. It is read from JSON with every limit checked, so that
// later code need not check again; the store keeps it as the same JSON.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "model/job_spec.h"

namespace muster {

// What stages are called in requests, by Stage.
inline constexpr std::array<const char*, kStages> kStageNames = {"storage", "cpu", "gpu",
                                                                 "network"};

struct JobRequest {
  std::vector<std::string> command;
  std::string name;
  int gpus = 1;
  int min_gpus = 0;  // a range, for policies that resize; 0: exactly `gpus`
  int max_gpus = 0;
  int max_nodes = 0;  // it must not be spread over more; 0: it may
  std::string gpu_type;
  std::string partition;
  std::string model;  // what it trains, for performance models and estimates
  int priority = 0;
  Seconds deadline = kNever;  // seconds after its submission
  Seconds time_limit = 0;     // of holding GPUs, over all launches; 0: none
  Seconds estimate = 0;       // what its owner believes it takes; 0: unknown
  double iterations = 0;      // 0: unknown, or told by the job itself
  double step_ms = 0;         // milliseconds of one iteration, alone; 0: unknown
  StageTimes stage_ms{};      // what of them is storage, CPU, GPU, network; all 0: unknown
  int batch_size = 0;
  double cpus = 0;
  double memory_gb = 0;
  int retries = 0;               // it may fail so often by its own fault
  Seconds grace = 30;            // to save its work when it loses its GPUs
  bool process_per_gpu = false;  // one process for each GPU; else one that has them all
  bool hold = false;             // not to be started before it is released
  std::string working_directory;
  std::string checkpoint_directory;  // made known to it as MUSTER_CHECKPOINT_DIR
  std::vector<std::pair<std::string, std::string>> environment;
  std::string request;  // the same id gets the same answer: a retry is safe
  std::string origin;   // where the executor found it; empty: it was submitted here
  std::string unfit;    // why the executor cannot run what it found; empty: it can

  friend bool operator==(const JobRequest&, const JobRequest&) = default;
};

// The error names the field. Unknown fields are refused: a misspelt field is an error.
Result<JobRequest> parse_job_request(std::string_view json);
std::string job_request_text(const JobRequest& request);

}  // namespace muster
