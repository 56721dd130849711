// The columns of each table and the members they hold, written down once: statements are made from
// this list, and values are bound and read by it.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/store.h"

namespace muster {

// GPUs as text, "node:mask" in hexadecimal with a space between nodes, and back.
std::string gpus_text(const GpuSet& gpus);
Result<GpuSet> parse_gpus(std::string_view text);

std::string_view run_outcome_name(RunOutcome outcome);

// Each calls visit(column, member) for every column in order, the key first.
template <typename Row, typename Visit>
void visit_columns(Row& job,
                   Visit&& visit) requires std::is_same_v<std::remove_const_t<Row>, StoredJob> {
  visit("id", job.id);
  visit("owner", job.owner);
  visit("name", job.name);
  visit("request", job.request);
  visit("state", job.state);
  visit("reason", job.reason);
  visit("description", job.description);
  visit("submitted", job.submitted);
  visit("admitted", job.admitted);
  visit("first_start", job.first_start);
  visit("ended", job.ended);
  visit("total_work", job.total_work);
  visit("work", job.work);
  visit("saved_work", job.saved_work);
  visit("lost_work", job.lost_work);
  visit("held", job.held);
  visit("gpu_seconds", job.gpu_seconds);
  visit("waited", job.waited);
  visit("overhead", job.overhead);
  visit("launches", job.launches);
  visit("preemptions", job.preemptions);
  visit("restarts", job.restarts);
  visit("crashes", job.crashes);
  visit("resizes", job.resizes);
  visit("metrics", job.metrics);
  visit("failed_starts", job.failed_starts);
  visit("paused_until", job.paused_until);
  visit("opportunistic", job.opportunistic);
  visit("cpus_per_gpu", job.cpus_per_gpu);
  visit("memory_per_gpu", job.memory_per_gpu);
  visit("held_before", job.held_before);
  visit("gpu_seconds_before", job.gpu_seconds_before);
  visit("as_of", job.as_of);
  visit("rate", job.rate);
  visit("duration", job.duration);
  visit("estimate", job.estimate);
}

template <typename Row, typename Visit>
void visit_columns(Row& run,
                   Visit&& visit) requires std::is_same_v<std::remove_const_t<Row>, StoredRun> {
  visit("job", run.run.job);
  visit("launch", run.run.launch);
  visit("state", run.state);
  visit("gpus", run.gpus);
  visit("shared", run.sharing);
  visit("planned", run.planned);
  visit("started", run.started);
  visit("ended", run.ended);
  visit("outcome", run.outcome);
  visit("exit_code", run.exit_code);
  visit("saved_step", run.saved_step);
  visit("detail", run.detail);
}

template <typename Row, typename Visit>
void visit_columns(Row& node,
                   Visit&& visit) requires std::is_same_v<std::remove_const_t<Row>, StoredNode> {
  visit("id", node.id);
  visit("name", node.name);
  visit("gpu_type", node.gpu_type);
  visit("gpus", node.gpus);
  visit("drained", node.drained);
  visit("reason", node.reason);
}

template <typename Row, typename Visit>
void visit_columns(Row& user,
                   Visit&& visit) requires std::is_same_v<std::remove_const_t<Row>, StoredUser> {
  visit("name", user.name);
  visit("role", user.role);
  visit("settings", user.settings);
}

template <typename Row, typename Visit>
void visit_columns(Row& decision, Visit&& visit) requires
    std::is_same_v<std::remove_const_t<Row>, StoredDecision> {
  visit("sequence", decision.sequence);
  visit("time", decision.time);
  visit("job", decision.job);
  visit("text", decision.text);
}

}  // namespace muster
