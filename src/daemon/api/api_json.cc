// Rows of the board as JSON.
#include <bit>
#include <cmath>

#include <nlohmann/json.hpp>

#include "daemon/api/api.h"
#include "daemon/core.h"
#include "daemon/stored_rows.h"

namespace muster {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Null for what has not happened.
Json time_or_null(const LiveClock& clock, Seconds time) {
  return time == kNever ? Json() : Json(clock.unix_time(time));
}

Json gpus_of(const GpuSet& gpus, const std::vector<StoredNode>& nodes) {
  Json list = Json::array();
  for (int i = 0; i < gpus.nodes(); ++i) {
    Json indexes = Json::array();
    for (std::uint64_t mask = gpus[i].mask; mask != 0; mask &= mask - 1) {
      indexes.push_back(std::countr_zero(mask));
    }
    std::string name = std::to_string(index(gpus[i].node));
    for (const StoredNode& node : nodes) {
      if (node.id == gpus[i].node) name = node.name;
    }
    list.push_back({{"node", name}, {"gpus", indexes}});
  }
  return list;
}

Json progress_of(const JobNews& news) {
  Json json = {{"step", news.step}};
  json["total"] = news.total > 0 ? Json(news.total) : Json();
  json["saved_step"] = news.saved_step >= 0 ? Json(news.saved_step) : Json();
  json["steps_per_second"] = news.steps_per_second;
  json["metrics"] = Json::object();
  for (const auto& [name, value] : news.metrics) {
    if (std::isfinite(value)) json["metrics"][name] = value;
  }
  return json;
}

Json short_job(const BoardJob& job, const std::vector<StoredNode>& nodes, const LiveClock& clock) {
  const StoredJob& row = *job.row;
  const StoredRun* run = job.last_run();
  Json json = {{"id", index(row.id)},
               {"name", row.name},
               {"owner", row.owner},
               {"state", row.state},
               {"gpus", job.request->gpus},
               {"submitted", clock.unix_time(row.submitted)},
               {"started", time_or_null(clock, row.first_start)},
               {"ended", time_or_null(clock, row.ended)},
               {"launches", row.launches},
               {"reason", row.reason},
               {"priority", job.request->priority},
               {"partition", job.request->partition},
               {"preemptions", row.preemptions},
               {"resizes", row.resizes},
               {"placement", gpus_of(job.gpus(), nodes)}};
  json["launch_state"] = run == nullptr ? Json() : Json(std::string(run_state_name(run->state)));
  json["exit_code"] = run == nullptr || !over(run->state) ? Json() : Json(run->exit_code);
  json["progress"] = job.news.step >= 0 ? progress_of(job.news) : Json();
  return json;
}

Json run_json(const StoredRun& run, const std::vector<StoredNode>& nodes, const LiveClock& clock) {
  Json json = {{"launch", run.run.launch},
               {"state", std::string(run_state_name(run.state))},
               {"placement", gpus_of(run.gpus, nodes)},
               {"shared", run.sharing == Sharing::kShared},
               {"planned", clock.unix_time(run.planned)},
               {"started", time_or_null(clock, run.started)},
               {"ended", time_or_null(clock, run.ended)}};
  const bool ended = run.state == RunState::kEnded;
  json["outcome"] = ended ? Json(std::string(run_outcome_name(run.outcome))) : Json();
  json["exit_code"] = ended ? Json(run.exit_code) : Json();
  json["saved_step"] = run.saved_step >= 0 ? Json(run.saved_step) : Json();
  json["detail"] = run.detail;
  return json;
}

Json uses_json(const std::vector<GpuUse>& uses) {
  const auto told = [](double value) { return value < 0 ? Json() : Json(value); };
  Json list = Json::array();
  for (const GpuUse& use : uses) {
    list.push_back({{"gpu", use.gpu.index},
                    {"name", use.gpu.name},
                    {"busy", told(use.busy)},
                    {"memory_used_bytes", told(use.memory_bytes)},
                    {"memory_bytes", use.gpu.memory_bytes},
                    {"watts", told(use.watts)}});
  }
  return list;
}

}  // namespace

std::string job_json(const BoardJob& job, const std::vector<StoredNode>& nodes,
                     const LiveClock& clock, bool detailed) {
  Json json = short_job(job, nodes, clock);
  if (!detailed) return dumped(json);
  const JobRequest& request = *job.request;
  json["command"] = request.command;
  json["working_directory"] = request.working_directory;
  json["gpu_type"] = request.gpu_type;
  json["min_gpus"] = request.min_gpus > 0 ? request.min_gpus : request.gpus;
  json["max_gpus"] = request.max_gpus > 0 ? request.max_gpus : request.gpus;
  json["deadline"] = request.deadline == kNever
                         ? Json()
                         : Json(clock.unix_time(job.row->submitted + request.deadline));
  json["time_limit"] = request.time_limit > 0 ? Json(request.time_limit) : Json();
  json["held_seconds"] = job.row->held;
  json["gpu_seconds"] = job.row->gpu_seconds;
  json["waited_seconds"] = job.row->waited;
  json["restarts"] = job.row->restarts;
  json["crashes"] = job.row->crashes;
  json["resizes"] = job.row->resizes;
  json["runs"] = Json::array();
  for (const auto& [launch, run] : job.runs) json["runs"].push_back(run_json(*run, nodes, clock));
  return dumped(json);
}

std::string jobs_json(const std::vector<BoardJob>& jobs, const std::vector<StoredNode>& nodes,
                      const LiveClock& clock) {
  Json list = Json::array();
  for (const BoardJob& job : jobs) list.push_back(short_job(job, nodes, clock));
  return dumped(list);
}

std::string nodes_json(const std::vector<StoredNode>& nodes, const std::vector<BoardJob>& jobs,
                       const Caller& caller, const std::vector<GpuUse>& uses) {
  Json list = Json::array();
  for (const StoredNode& node : nodes) {
    Json holders = Json::array();
    for (std::int64_t gpu = 0; gpu < node.gpus; ++gpu) holders.push_back(Json::array());
    std::int64_t used = 0;
    for (const BoardJob& job : jobs) {
      const GpuSet gpus = job.gpus();
      for (int i = 0; i < gpus.nodes(); ++i) {
        if (gpus[i].node != node.id) continue;
        for (std::uint64_t mask = gpus[i].mask; mask != 0; mask &= mask - 1) {
          const auto gpu = static_cast<std::size_t>(std::countr_zero(mask));
          if (gpu >= holders.size()) continue;
          holders[gpu].push_back(caller.may_see(job) ? Json(index(job.row->id)) : Json());
        }
      }
    }
    for (const Json& on_gpu : holders) used += on_gpu.empty() ? 0 : 1;
    list.push_back({{"name", node.name},
                    {"gpu_type", node.gpu_type},
                    {"gpus", node.gpus},
                    {"used", used},
                    {"drained", node.drained || node.drained_outside},
                    {"up", node.up},
                    {"reason", node.reason},
                    {"jobs", holders}});
    if (&node == nodes.data() && !uses.empty()) list.back()["gpu_use"] = uses_json(uses);
  }
  return dumped(list);
}

std::string story_json(const BoardJob& job, const JobStory& story,
                       const std::vector<StoredDecision>& decisions) {
  const StoredJob& row = *job.row;
  Json json = {{"id", index(row.id)},          {"state", row.state},
               {"reason", row.reason},         {"over", over(row)},
               {"held", story.held},           {"gpus", job.request->gpus},
               {"free_gpus", story.free_gpus}, {"usable_gpus", story.usable_gpus},
               {"policy", story.policy},       {"waiting_and_submitted_earlier", story.earlier}};
  json["first_of_them"] = Json::array();
  if (story.first_earlier != kNoJob) json["first_of_them"].push_back(index(story.first_earlier));
  json["launches"] = Json::array();
  for (const auto& [launch, run] : job.runs) {
    json["launches"].push_back({{"launch", launch},
                                {"state", std::string(run_state_name(run->state))},
                                {"detail", run->detail}});
  }
  const auto known = [](Seconds time) { return time == kNever ? Json() : Json(time); };
  json["expected_start"] = known(story.expected);
  json["expected_start_early"] = known(story.early);
  json["expected_start_late"] = known(story.late);
  json["decisions"] = Json::array();
  for (const StoredDecision& decision : decisions) {
    json["decisions"].push_back(
        {{"after", decision.time - row.submitted}, {"text", decision.text}});
  }
  return dumped(json);
}

std::string error_json(std::string_view message) {
  return dumped(Json{{"error", std::string(message)}});
}

HttpResponse error_response(int status, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.body = error_json(message);
  return response;
}

}  // namespace muster
