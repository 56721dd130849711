// The part of a leaving job's record that describes the job itself, whichever backend ran it.
#pragma once

#include "model/record.h"
#include "model/truth.h"

namespace muster {

inline JobRecord record_of(const JobSpec& job) {
  JobRecord record;
  record.id = job.id;
  record.name = job.name;
  record.submit = job.submit;
  record.arrival = job.arrival;
  record.gpus = job.gpus;
  record.duration = true_duration(job);
  record.deadline = job.deadline;
  record.best_value = job.value_at(job.submit);
  record.priority = job.priority;
  record.user = job.user;
  record.partition = job.partition;
  record.model = job.model;
  return record;
}

}  // namespace muster
