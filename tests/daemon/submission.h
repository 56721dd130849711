// A job as the daemon's core gets it: durable, with its description beside it.
#pragma once

#include <memory>
#include <utility>

#include "daemon/core.h"

namespace muster {

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
