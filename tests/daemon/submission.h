// The daemon's core on a small cluster, and jobs as it gets them: durable, with their descriptions
// beside them.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "daemon/core.h"
#include "run/config/load_config.h"

namespace muster {

inline LivePlan live_plan(const std::string& shape, const std::string& scheduling = "fifo") {
  RunConfig config;
  config.cluster.shape = shape;
  config.scheduling = {scheduling};
  config.workload.generator = {"poisson", {{"jobs", "1"}}};
  return std::move(*make_live_plan(*complete_config(std::move(config))));
}

inline std::unique_ptr<Core> core_of(LivePlan plan) {
  return std::move(*Core::make(std::move(plan), Abilities{}, {}, StoredWorld{}, 0));
}

inline JobRequest training(int gpus, Seconds estimate = 0) {
  JobRequest request;
  request.command = {"train"};
  request.working_directory = "/";
  request.gpus = gpus;
  request.estimate = estimate;
  return request;
}

inline StoredJob submitted_row(JobId id, const JobRequest& request, Seconds now) {
  StoredJob row;
  row.id = id;
  row.state = "submitted";
  row.description = job_request_text(request);
  row.submitted = now;
  return row;
}

inline void submit_to(Core& core, JobId id, JobRequest request, Seconds now) {
  const StoredJob row = submitted_row(id, request, now);
  core.submit(row, std::make_shared<const JobRequest>(std::move(request)), now);
}

}  // namespace muster
