// Routes that read, and submissions.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "daemon/api/api.h"
#include "model/job.h"

namespace muster {
namespace {

std::string value_of(const HttpRequest& request, const char* name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? "" : found->second;
}

// What is wrong with the name of a state; empty: nothing.
std::string check_state(const std::string& name) {
  std::vector<std::string_view> known;
  for (int state = 0; state <= static_cast<int>(JobState::kCancelled); ++state) {
    known.push_back(job_state_name(static_cast<JobState>(state)));
  }
  const bool found = name.empty() || std::find(known.begin(), known.end(), name) != known.end();
  return found ? "" : unknown_name("state", name.substr(0, 64), known);
}

}  // namespace

void Api::get_status(const ApiCall& call) {
  HttpResponse response;
  response.body = parts_.status();
  call.reply(std::move(response));
}

std::optional<BoardJob> Api::job_of(const ApiCall& call) const {
  const std::optional<std::int64_t> number = parse_integer(call.name);
  std::optional<BoardJob> job;
  if (number && *number >= 0 && *number < 0xffffffff) {
    job = parts_.board.job(JobId{static_cast<std::uint32_t>(*number)});
  }
  // A job of another user is reported as unknown.
  if (job && call.caller.may_see(*job)) return job;
  call.reply(error_response(404, fmt::format("there is no job {}", call.name)));
  return std::nullopt;
}

std::string Api::check_owner(const std::string& name, const Caller& caller) const {
  if (name.empty() || name == caller.name || user_exists(name)) return {};
  std::set<std::string> owners = {caller.name};
  const auto visible = [&](const BoardJob& job) { return caller.may_see(job); };
  for (const BoardJob& job : parts_.board.jobs(visible, 1'000'000)) owners.insert(job.row->owner);
  if (owners.contains(name)) return {};
  const std::vector<std::string_view> known(owners.begin(), owners.end());
  return unknown_name("user", name.substr(0, 64), known);
}

void Api::list_jobs(const ApiCall& call) {
  const Result<std::int64_t> limit = number_in(call.request, "limit", 1'000'000, 1'000'000);
  if (!limit) return call.reply(error_response(400, limit.error().message));
  const std::string state = value_of(call.request, "state");
  const std::string owner = value_of(call.request, "owner");
  const std::string active_word = value_of(call.request, "active");
  const bool active = active_word == "true";
  if (!active && !active_word.empty() && active_word != "false") {
    return call.reply(error_response(400, "'active' is neither true nor false"));
  }
  if (const std::string wrong = check_state(state); !wrong.empty()) {
    return call.reply(error_response(400, wrong));
  }
  if (const std::string wrong = check_owner(owner, call.caller); !wrong.empty()) {
    return call.reply(error_response(400, wrong));
  }
  const auto wanted = [&](const BoardJob& job) {
    return call.caller.may_see(job) && (state.empty() || job.row->state == state) &&
           (owner.empty() || job.row->owner == owner) && (!active || !over(*job.row));
  };
  HttpResponse response;
  response.body = jobs_json(parts_.board.jobs(wanted, static_cast<std::size_t>(*limit)),
                            parts_.board.nodes(), parts_.clock);
  call.reply(std::move(response));
}

void Api::submit(const ApiCall& call) {
  Result<JobRequest> request = parse_job_request(call.request.body);
  if (!request) return call.reply(error_response(400, request.error().message));
  if (const std::string why = Access::cannot_run(call.caller.name); !why.empty()) {
    return call.reply(error_response(403, why));
  }
  if (!request->origin.empty() || !request->unfit.empty()) {
    return call.reply(error_response(400, "'origin' and 'unfit' are said by executors alone"));
  }
  // It would be stored and ignored.
  if (const std::string why = parts_.frozen(); !why.empty()) {
    return call.reply(error_response(503, why));
  }
  parts_.intake.submit(
      std::move(*request), call.caller.name, [reply = call.reply](const Intake::Answer& answer) {
        if (!answer.error.empty()) return reply(error_response(answer.status, answer.error));
        HttpResponse response;
        response.status = answer.status;
        nlohmann::ordered_json told = {{"id", index(answer.id)}};
        if (!answer.notes.empty()) told["notes"] = answer.notes;
        response.body = told.dump() + "\n";
        response.headers.emplace_back("Location", fmt::format("/v1/jobs/{}", index(answer.id)));
        reply(std::move(response));
      });
}

void Api::show_job(const ApiCall& call) {
  const std::optional<BoardJob> job = job_of(call);
  if (!job) return;
  HttpResponse response;
  response.body = job_json(*job, parts_.board.nodes(), parts_.clock, true);
  call.reply(std::move(response));
}

void Api::list_nodes(const ApiCall& call) {
  HttpResponse response;
  const auto on_gpus = [](const BoardJob& job) { return !job.gpus().empty(); };
  response.body = nodes_json(parts_.board.nodes(), parts_.board.jobs(on_gpus, 1'000'000),
                             call.caller, parts_.gpus ? parts_.gpus() : std::vector<GpuUse>());
  call.reply(std::move(response));
}

void Api::metrics(const ApiCall& call) {
  HttpResponse response;
  response.type = "text/plain; version=0.0.4; charset=utf-8";
  response.body =
      metrics_text(parts_.board, call.caller, parts_.gpus ? parts_.gpus() : std::vector<GpuUse>());
  call.reply(std::move(response));
}

void Api::openapi(const ApiCall& call) {
  HttpResponse response;
  response.body = openapi_document(routes());
  call.reply(std::move(response));
}

}  // namespace muster
