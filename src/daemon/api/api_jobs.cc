// What reads, and submissions.
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "daemon/api/api.h"

namespace muster {
namespace {

constexpr std::size_t kMostLogBytes = 1 << 20;

// A whole number of the query between bounds; the default where it is not given.
Result<std::int64_t> number_in(const HttpRequest& request, const char* name, std::int64_t usual,
                               std::int64_t most) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return usual;
  const std::optional<std::int64_t> number = parse_integer(found->second);
  if (!number || *number < 0 || *number > most) {
    return Error{fmt::format("'{}' is no whole number from 0 to {}", name, most)};
  }
  return *number;
}

std::string value_of(const HttpRequest& request, const char* name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? "" : found->second;
}

// Part of a file; nothing where there is none or it is shorter.
std::string read_part(const std::filesystem::path& path, std::int64_t offset, std::size_t most) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return {};
  std::string text(most, '\0');
  const ssize_t count = pread(file, text.data(), most, offset);
  close(file);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
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
  // A job of somebody else is as unknown as one that is not there.
  if (job && call.caller.may_see(*job)) return job;
  call.reply(error_response(404, fmt::format("there is no job {}", call.name)));
  return std::nullopt;
}

void Api::list_jobs(const ApiCall& call) {
  const Result<std::int64_t> limit = number_in(call.request, "limit", 1'000'000, 1'000'000);
  if (!limit) return call.reply(error_response(400, limit.error().message));
  const std::string state = value_of(call.request, "state");
  const std::string owner = value_of(call.request, "owner");
  const bool active = value_of(call.request, "active") == "true";
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
  // It would be kept, and nobody would look at it.
  if (const std::string why = parts_.frozen(); !why.empty()) {
    return call.reply(error_response(503, why));
  }
  parts_.intake.submit(
      std::move(*request), call.caller.name, [reply = call.reply](const Intake::Answer& answer) {
        if (!answer.error.empty()) return reply(error_response(answer.status, answer.error));
        HttpResponse response;
        response.status = answer.status;
        response.body = fmt::format("{{\"id\":{}}}\n", index(answer.id));
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

void Api::show_log(const ApiCall& call) {
  const std::optional<BoardJob> job = job_of(call);
  if (!job) return;
  const std::int64_t last = job->runs.empty() ? 0 : job->runs.rbegin()->first;
  const Result<std::int64_t> launch = number_in(call.request, "launch", last, 0xffffffff);
  const Result<std::int64_t> rank = number_in(call.request, "rank", 0, 1'000'000);
  const Result<std::int64_t> offset = number_in(call.request, "offset", 0, std::int64_t{1} << 60);
  const Result<std::int64_t> most = number_in(call.request, "most", kMostLogBytes, kMostLogBytes);
  for (const auto* number : {&launch, &rank, &offset, &most}) {
    if (!*number) return call.reply(error_response(400, number->error().message));
  }
  const auto run = job->runs.find(static_cast<std::uint32_t>(*launch));
  // Before it is read: what is over by now will not be written to while we read.
  const bool ended = run == job->runs.end() ? over(*job->row) : over(run->second->state);
  const std::string folder = fmt::format("{}.{}", index(job->row->id), *launch);
  const std::string file = fmt::format("rank-{}.log", *rank);
  HttpResponse response;
  response.type = "text/plain; charset=utf-8";
  for (const std::filesystem::path& parent : {parts_.runs, parts_.ended}) {
    response.body = read_part(parent / folder / file, *offset, static_cast<std::size_t>(*most));
    if (!response.body.empty()) break;
  }
  response.headers.emplace_back("Muster-Launch", std::to_string(*launch));
  response.headers.emplace_back("Muster-Last-Launch", std::to_string(last));
  response.headers.emplace_back("Muster-Offset",
                                std::to_string(*offset + std::int64_t(response.body.size())));
  response.headers.emplace_back("Muster-Ended", ended ? "true" : "false");
  response.headers.emplace_back("Muster-Job-Over", over(*job->row) ? "true" : "false");
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
