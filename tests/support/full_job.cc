#include "support/full_job.h"

namespace muster {

JobSpec full_job(Symbols& symbols) {
  JobSpec job;
  auto& [id, believed, submit, arrival, duration, gpus, min_gpus, max_gpus, deadline, value, later,
         estimate, cpus, memory_gb, iterations, step_ms, stage_ms, batch_size, priority, model,
         user, partition, gpu_type, name, truth] = job;
  id = JobId{};
  submit = 0.1;
  arrival = 1.0 / 3;
  duration = 1e-9;
  gpus = 3;
  min_gpus = 2;
  max_gpus = 5;
  deadline = 1e300;
  value = 2.5;
  later = {{2e300, 1.5}, {3e300, 1.0 / 3}};
  estimate = 7.5;
  cpus = 1.25;
  memory_gb = 64;
  iterations = 1e6;
  step_ms = 107.5;
  stage_ms = {0.1, 0, 1.0 / 3, 2};
  batch_size = 128;
  priority = -4;
  model = symbols.intern("res net=50%");
  user = symbols.intern("ünder\tscore");
  partition = symbols.intern("vc1");
  gpu_type = symbols.intern("v100");
  name = "job 1\n";
  believed = true;
  truth.set({0.7, 1e5, 1.0 / 9});
  return job;
}

bool same_fields(const JobSpec& a, const JobSpec& b) {
  return a.submit == b.submit && a.arrival == b.arrival && a.duration == b.duration &&
         a.gpus == b.gpus && a.min_gpus == b.min_gpus && a.max_gpus == b.max_gpus &&
         a.deadline == b.deadline && a.value == b.value && a.later == b.later &&
         a.estimate == b.estimate && a.cpus == b.cpus && a.memory_gb == b.memory_gb &&
         a.iterations == b.iterations && a.step_ms == b.step_ms && a.stage_ms == b.stage_ms &&
         a.batch_size == b.batch_size && a.priority == b.priority && a.model == b.model &&
         a.user == b.user && a.partition == b.partition && a.gpu_type == b.gpu_type &&
         a.name == b.name && a.believed == b.believed && a.truth == b.truth;
}

}  // namespace muster
