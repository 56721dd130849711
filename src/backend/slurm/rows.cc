#include "backend/slurm/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace muster {
namespace {

using SlurmJson = nlohmann::json;

const SlurmJson& field_of(const SlurmJson& row, const char* name) {
  static const SlurmJson nothing;
  const auto found = row.find(name);
  return found == row.end() ? nothing : *found;
}

std::string text_of(const SlurmJson& row, const char* name) {
  const SlurmJson& field = field_of(row, name);
  return field.is_string() ? field.get<std::string>() : "";
}

// A number, or the object that later releases write: {"set": true, "infinite": false, "number": 3}.
double number_of(const SlurmJson& row, const char* name, double otherwise) {
  const SlurmJson* field = &field_of(row, name);
  if (field->is_object()) {
    const SlurmJson& set = field_of(*field, "set");
    const SlurmJson& infinite = field_of(*field, "infinite");
    if (set.is_boolean() && !set.get<bool>()) return otherwise;
    if (infinite.is_boolean() && infinite.get<bool>()) return otherwise;
    field = &field_of(*field, "number");
  }
  if (!field->is_number()) return otherwise;
  const double value = field->get<double>();
  return std::isfinite(value) ? value : otherwise;
}

template <typename Whole>
Whole whole_of(const SlurmJson& row, const char* name, Whole otherwise) {
  const double value = number_of(row, name, static_cast<double>(otherwise));
  const double most = static_cast<double>(std::numeric_limits<Whole>::max());
  return static_cast<Whole>(std::clamp(std::trunc(value), 0.0, most));
}

// A state is one word, or a list of a state and flags.
std::vector<std::string> words_of(const SlurmJson& row, const char* name) {
  const SlurmJson& field = field_of(row, name);
  std::vector<std::string> words;
  if (field.is_string()) words.push_back(field.get<std::string>());
  if (field.is_array()) {
    for (const SlurmJson& item : field) {
      if (item.is_string()) words.push_back(item.get<std::string>());
    }
  }
  for (std::string& word : words) {
    for (char& c : word) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
  }
  return words;
}

bool among(const std::vector<std::string>& words, std::initializer_list<std::string_view> some) {
  return std::any_of(words.begin(), words.end(), [&some](const std::string& word) {
    return std::find(some.begin(), some.end(), word) != some.end();
  });
}

SlurmState state_of(const std::vector<std::string>& words) {
  if (among(words, {"COMPLETING", "STAGE_OUT"})) return SlurmState::kCompleting;
  if (among(words, {"CONFIGURING", "POWER_UP_NODE"})) return SlurmState::kStarting;
  if (among(words, {"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT",
                    "RESV_DEL_HOLD"})) {
    return SlurmState::kPending;
  }
  if (among(words, {"RUNNING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING"})) {
    return SlurmState::kRunning;
  }
  if (among(words, {"COMPLETED"})) return SlurmState::kCompleted;
  if (among(words, {"CANCELLED", "REVOKED"})) return SlurmState::kCancelled;
  if (among(words, {"FAILED", "TIMEOUT", "OUT_OF_MEMORY", "DEADLINE"})) return SlurmState::kFailed;
  if (among(words, {"NODE_FAIL", "BOOT_FAIL", "PREEMPTED"})) return SlurmState::kLost;
  return SlurmState::kUnknown;
}

int exit_code_of(const SlurmJson& row) {
  const SlurmJson& code = field_of(row, "exit_code");
  if (code.is_object() && code.contains("return_code")) {
    const SlurmJson& how = field_of(code, "signal");
    const int signal =
        how.is_object() ? std::max(whole_of<int>(how, "signal_id", 0), whole_of<int>(how, "id", 0))
                        : 0;
    return signal > 0 ? 128 + signal : whole_of<int>(code, "return_code", 0);
  }
  // As wait(2) gives it.
  const int status = whole_of<int>(row, "exit_code", 0);
  return (status & 0x7f) != 0 ? 128 + (status & 0x7f) : (status >> 8) & 0xff;
}

std::vector<Gres> gres_in(const SlurmJson& row, const char* name) {
  return parse_gres(text_of(row, name));
}

void read_constraints(const SlurmJson& row, SlurmJob& job) {
  job.time_limit = 60 * number_of(row, "time_limit", 0);
  job.tasks = std::max(1, whole_of<int>(row, "tasks", 1));
  job.cpus = std::max(1, whole_of<int>(row, "cpus", 1));
  job.nodes_wanted = std::max(1, whole_of<int>(row, "node_count", 1));
  job.per_job = gres_in(row, "tres_per_job");
  job.per_node = gres_in(row, "tres_per_node");
  job.per_task = gres_in(row, "tres_per_task");
  job.per_socket = gres_in(row, "tres_per_socket");
  job.nodes = text_of(row, "nodes");
  job.batch_host = text_of(row, "batch_host");
  job.max_nodes = whole_of<int>(row, "max_nodes", 0);
  job.tasks_per_node = whole_of<int>(row, "tasks_per_node", 0);
  job.required = text_of(row, "required_nodes");
  job.excluded = text_of(row, "excluded_nodes");
  job.features = text_of(row, "features");
  job.dependency = text_of(row, "dependency");
  job.reservation = text_of(row, "resv_name");
  const SlurmJson& detail = field_of(row, "gres_detail");
  if (!detail.is_array()) return;
  for (const SlurmJson& one : detail) {
    job.gres.push_back(one.is_string() ? parse_gres(one.get<std::string>()) : std::vector<Gres>{});
  }
}

std::optional<SlurmJob> job_of(const SlurmJson& row) {
  if (!row.is_object()) return std::nullopt;
  SlurmJob job;
  job.id = whole_of<std::uint32_t>(row, "job_id", 0);
  const std::vector<std::string> states = words_of(row, "job_state");
  if (job.id == 0 || states.empty()) return std::nullopt;
  job.state = state_of(states);
  job.state_name = states.front();
  job.reason = text_of(row, "state_reason");
  job.held = number_of(row, "priority", 1) == 0;
  const SlurmJson& batch = field_of(row, "batch_flag");
  job.batch = !batch.is_boolean() || batch.get<bool>();
  job.array = !text_of(row, "array_task_string").empty();
  job.heterogeneous = number_of(row, "het_job_id", 0) != 0;
  job.group = std::max(whole_of<std::uint32_t>(row, "array_job_id", 0),
                       whole_of<std::uint32_t>(row, "het_job_id", 0));
  const SlurmJson& requeue = field_of(row, "requeue");
  job.requeue = !requeue.is_boolean() || requeue.get<bool>();
  job.user_id = whole_of<std::uint32_t>(row, "user_id", 0);
  job.user = text_of(row, "user_name");
  job.name = text_of(row, "name");
  job.comment = text_of(row, "comment");
  job.admin_comment = text_of(row, "admin_comment");
  job.partition = text_of(row, "partition");
  job.command = text_of(row, "command");
  job.directory = text_of(row, "current_working_directory");
  job.restarts = whole_of<std::uint32_t>(row, "restart_cnt", 0);
  job.exit_code = exit_code_of(row);
  job.submitted = number_of(row, "submit_time", 0);
  job.started = number_of(row, "start_time", 0);
  job.ended = number_of(row, "end_time", 0);
  job.eligible = number_of(row, "eligible_time", 0);
  read_constraints(row, job);
  return job;
}

std::optional<SlurmNode> node_of(const SlurmJson& row) {
  if (!row.is_object()) return std::nullopt;
  SlurmNode node;
  node.name = text_of(row, "name");
  std::vector<std::string> states = words_of(row, "state");
  if (node.name.empty() || states.empty()) return std::nullopt;
  for (std::string& flag : words_of(row, "state_flags")) states.push_back(std::move(flag));
  // A node that does not respond may be back in a moment: what runs there is not given up before
  // Slurm does, and nothing new is sent there.
  node.up = !among(states, {"DOWN", "ERROR", "UNKNOWN", "FUTURE", "POWERED_DOWN", "INVALID_REG"});
  node.drained = among(states, {"DRAIN", "DRAINING", "DRAINED", "FAIL", "FAILING", "MAINTENANCE",
                                "NOT_RESPONDING", "NO_RESPOND", "REBOOT", "REBOOT_REQUESTED",
                                "REBOOT_ISSUED", "POWERING_DOWN", "POWER_DOWN"});
  for (const std::string& word : states) node.state += (node.state.empty() ? "" : " ") + word;
  if (const std::string why = text_of(row, "reason"); !why.empty()) node.state += ": " + why;
  const SlurmJson& partitions = field_of(row, "partitions");
  for (const SlurmJson& partition : partitions.is_array() ? partitions : SlurmJson::array()) {
    if (partition.is_string()) node.partitions.push_back(partition.get<std::string>());
  }
  node.gres = gres_in(row, "gres");
  node.used = gres_in(row, "gres_used");
  // Of those that a node could have, the ones that it has now.
  for (const char* name : {"active_features", "features"}) {
    const SlurmJson& list = field_of(row, name);
    if (!node.features.empty() || list.is_null()) continue;
    if (list.is_string()) node.features = list.get<std::string>();
    for (const SlurmJson& one : list.is_array() ? list : SlurmJson::array()) {
      if (one.is_string())
        node.features += (node.features.empty() ? "" : ",") + one.get<std::string>();
    }
  }
  node.cpus = whole_of<int>(row, "cpus", 0);
  node.cpus_used = whole_of<int>(row, "alloc_cpus", 0);
  node.memory_mb = number_of(row, "real_memory", 0);
  return node;
}

// The rows under `name`. What is wrong with the answer as a whole is said in Slurm's own words.
Result<SlurmJson> list_in(std::string_view text, const char* name) {
  SlurmJson answer = SlurmJson::parse(text, nullptr, false);
  if (answer.is_discarded()) {
    return Error{
        fmt::format("Slurm's list of {} is not JSON ({} bytes); is this a release from "
                    "21.08 on, with its JSON plug-in?",
                    name, text.size())};
  }
  const SlurmJson& errors = answer.is_object() ? field_of(answer, "errors") : answer;
  if (errors.is_array() && !errors.empty() && errors[0].is_object()) {
    return Error{fmt::format("Slurm gives no list of {}: {}", name,
                             text_of(errors[0], "error") + text_of(errors[0], "description"))};
  }
  if (!answer.is_object() || !field_of(answer, name).is_array()) {
    return Error{fmt::format("Slurm's answer has no list of {}", name)};
  }
  return std::move(answer[name]);
}

}  // namespace

SlurmState slurm_state(const std::string& word) { return state_of({word}); }

Result<SlurmRows<SlurmJob>> parse_jobs(std::string_view json) {
  const auto list = list_in(json, "jobs");
  if (!list) return list.error();
  SlurmRows<SlurmJob> jobs;
  for (const SlurmJson& row : *list) {
    if (auto job = job_of(row)) {
      jobs.rows.push_back(std::move(*job));
    } else {
      ++jobs.left_out;
    }
  }
  return jobs;
}

Result<SlurmRows<SlurmNode>> parse_nodes(std::string_view json) {
  const auto list = list_in(json, "nodes");
  if (!list) return list.error();
  SlurmRows<SlurmNode> nodes;
  for (const SlurmJson& row : *list) {
    if (auto node = node_of(row)) {
      nodes.rows.push_back(std::move(*node));
    } else {
      ++nodes.left_out;
    }
  }
  return nodes;
}

}  // namespace muster
