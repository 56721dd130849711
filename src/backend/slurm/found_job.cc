#include "backend/slurm/found_job.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace muster {
namespace {

constexpr std::size_t kMostShown = 200;
constexpr std::size_t kMostReason = 250;

// A name of Slurm may hold anything; one of ours is a short line of UTF-8.
std::string shown_name(const std::string& name, std::size_t most = kMostShown) {
  std::string shown;
  for (const char c : name.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  // A character that was cut in the middle.
  while (!shown.empty() && name.size() > most && static_cast<unsigned char>(shown.back()) >= 0x80) {
    shown.pop_back();
  }
  return shown;
}

const std::vector<Gres>& gpu_request(const SlurmJob& job) {
  for (const std::vector<Gres>* request : {&job.per_job, &job.per_node, &job.per_task}) {
    if (count_of(*request, "gpu") > 0) return *request;
  }
  return job.per_job;
}

}  // namespace

int gpus_wanted(const SlurmJob& job) {
  const std::int64_t scale = count_of(job.per_job, "gpu") > 0    ? 1
                             : count_of(job.per_node, "gpu") > 0 ? job.nodes_wanted
                                                                 : job.tasks;
  const std::int64_t gpus = count_of(gpu_request(job), "gpu") * scale;
  return static_cast<int>(std::min<std::int64_t>(gpus, 1'000'000));
}

std::string gpu_type_wanted(const SlurmJob& job) { return type_of(gpu_request(job), "gpu"); }

std::string unfit_to_schedule(const SlurmJob& job) {
  if (job.array) return "it is an array; submit its tasks one by one";
  if (job.heterogeneous) return "it is a heterogeneous job";
  if (!job.batch) return "it has no batch script, so it cannot be requeued";
  if (!job.requeue) {
    return "it must not be requeued (--no-requeue), so it could not be stopped for others; submit "
           "it with --requeue, or leave it to Slurm (scontrol release)";
  }
  if (!job.reservation.empty()) return "it asks for a reservation; Slurm keeps those";
  if (count_of(job.per_socket, "gpu") > 0) {
    return "it asks for GPUs per socket; ask with --gres=gpu:N or --gpus=N";
  }
  if (gpus_wanted(job) == 0) return "it asks for no GPU; ask with --gres=gpu:N or --gpus=N";
  int types = 0;
  for (const Gres& gres : gpu_request(job)) types += gres.name == "gpu" ? 1 : 0;
  if (types > 1) return "it asks for GPUs of several types at once";
  return {};
}

std::string found_description(const SlurmJob& job, const NodeConstraints& constraints,
                              const std::string& origin) {
  const std::string program = job.command.empty() ? job.name : job.command;
  nlohmann::json json = {{"command", {program.empty() ? "batch" : shown_name(program)}},
                         {"name", shown_name(job.name)},
                         {"gpus", std::max(1, gpus_wanted(job))},
                         {"partition", constraints.partition},
                         {"request", origin},
                         {"origin", origin}};
  const std::string type = gpu_type_wanted(job);
  if (const std::string& only = type.empty() ? constraints.gpu_type : type; !only.empty()) {
    json["gpu_type"] = only;
  }
  if (constraints.max_nodes > 0) json["max_nodes"] = std::min(constraints.max_nodes, 100'000);
  if (job.cpus > 1) json["cpus"] = std::min(job.cpus, 1'000'000);
  if (!constraints.unfit.empty()) json["unfit"] = shown_name(constraints.unfit, kMostReason);
  // Slurm keeps the limit itself, anew for each start; it is all that is known of its length.
  if (job.time_limit > 0) json["estimate"] = std::min(job.time_limit, 1e9);
  if (job.directory.starts_with('/')) json["working_directory"] = job.directory;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace muster
