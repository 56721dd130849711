#include <fmt/format.h>

#include "daemon/api/api.h"

namespace muster {

std::string metrics_text(const Board& board, const Caller& caller) {
  const Board::Counts counts = board.counts();
  std::string text =
      "# HELP muster_jobs Jobs by state\n"
      "# TYPE muster_jobs gauge\n";
  for (const auto& [state, count] : counts.jobs) {
    text += fmt::format("muster_jobs{{state=\"{}\"}} {}\n", state, count);
  }
  text += fmt::format(
      "# HELP muster_gpus GPUs of all nodes\n"
      "# TYPE muster_gpus gauge\n"
      "muster_gpus {}\n"
      "# HELP muster_gpus_in_use GPUs that jobs hold; shared ones count for each of them\n"
      "# TYPE muster_gpus_in_use gauge\n"
      "muster_gpus_in_use {}\n",
      counts.gpus, counts.gpus_in_use);
  std::string steps;
  const auto running = [&caller](const BoardJob& job) {
    return caller.may_see(job) && job.row->state == "running" && job.news.step >= 0;
  };
  for (const BoardJob& job : board.jobs(running, 100'000)) {
    steps += fmt::format("muster_job_steps_per_second{{job=\"{}\"}} {}\n", index(job.row->id),
                         job.news.steps_per_second);
  }
  if (!steps.empty()) {
    text +=
        "# HELP muster_job_steps_per_second Training steps per second, as the job says\n"
        "# TYPE muster_job_steps_per_second gauge\n" +
        steps;
  }
  return text;
}

}  // namespace muster
