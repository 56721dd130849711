#include <fmt/format.h>

#include "daemon/api/api.h"

namespace muster {

namespace {

std::string gpus_text(const std::vector<GpuUse>& uses) {
  std::string text;
  const auto figure = [&](std::string_view name, std::string_view help, auto value_of) {
    std::string lines;
    for (const GpuUse& use : uses) {
      if (value_of(use) < 0) continue;
      lines += fmt::format("muster_gpu_{}{{gpu=\"{}\"}} {}\n", name, use.gpu.index, value_of(use));
    }
    if (lines.empty()) return;
    text += fmt::format("# HELP muster_gpu_{0} {1}\n# TYPE muster_gpu_{0} gauge\n{2}", name, help,
                        lines);
  };
  figure("busy", "Part of the time in which a kernel ran", [](const GpuUse& u) { return u.busy; });
  figure("memory_used_bytes", "Memory of the GPU in use",
         [](const GpuUse& u) { return u.memory_bytes; });
  figure("memory_bytes", "Memory of the GPU", [](const GpuUse& u) { return u.gpu.memory_bytes; });
  figure("power_watts", "Power that the GPU draws", [](const GpuUse& u) { return u.watts; });
  return text;
}

}  // namespace

std::string metrics_text(const Board& board, const Caller& caller,
                         const std::vector<GpuUse>& uses) {
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
  return text + gpus_text(uses);
}

}  // namespace muster
