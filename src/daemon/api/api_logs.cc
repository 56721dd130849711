// Output of jobs.
#include <fmt/format.h>

#include "base/text.h"
#include "daemon/api/api.h"
#include "daemon/rank_log.h"

namespace muster {
namespace {

constexpr std::size_t kMostLogBytes = 1 << 20;

std::string counted(std::int64_t first, std::int64_t last, const char* what) {
  return first == last ? fmt::format("only {} {}", what, first)
                       : fmt::format("{}s {} to {}", what, first, last);
}

// What is wrong with the launch, or with the rank in it; empty: nothing. Whoever follows a job asks
// for the launch that comes next.
std::string check_place(const BoardJob& job, std::int64_t launch, std::int64_t rank) {
  const auto id = index(job.row->id);
  const std::int64_t last = job.runs.empty() ? 0 : job.runs.rbegin()->first;
  const auto run = job.runs.find(static_cast<std::uint32_t>(launch));
  if (run == job.runs.end()) {
    if (launch == last || (launch == last + 1 && !over(*job.row))) return {};
    return last == 0 ? fmt::format("job {} has not been launched", id)
                     : fmt::format("job {} has no launch {}: it has {}", id, launch,
                                   counted(job.runs.begin()->first, last, "launch"));
  }
  // A user's own script may have any number.
  if (!job.request->origin.empty()) return {};
  const GpuSet& gpus = run->second->gpus;
  const int ranks = job.request->process_per_gpu ? gpus.gpus() : gpus.nodes();
  if (rank < ranks) return {};
  return fmt::format("launch {} of job {} has no rank {}: it has {}", launch, id, rank,
                     counted(0, ranks - 1, "rank"));
}

}  // namespace

// A whole number of the query between bounds; the default where it is not given.
Result<std::int64_t> number_in(const HttpRequest& request, const char* name, std::int64_t usual,
                               std::int64_t most) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return usual;
  const std::optional<std::int64_t> number = parse_integer(found->second);
  if (!number || *number < 0 || *number > most) {
    return Error{fmt::format("'{}' is not a whole number from 0 to {}", name, most)};
  }
  return *number;
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
  if (const std::string wrong = check_place(*job, *launch, *rank); !wrong.empty()) {
    return call.reply(error_response(404, wrong));
  }
  const auto run = job->runs.find(static_cast<std::uint32_t>(*launch));
  // Before it is read: what is over by now will not be written to while we read.
  const bool ended = run == job->runs.end() ? over(*job->row) : over(run->second->state);
  const std::string folder = fmt::format("{}.{}", index(job->row->id), *launch);
  const std::string file = fmt::format("rank-{}.log", *rank);
  HttpResponse response;
  response.type = "text/plain; charset=utf-8";
  LogPart part;
  for (const std::filesystem::path& parent : {parts_.runs, parts_.ended}) {
    part = read_rank_log(parent / folder / file, *offset, static_cast<std::size_t>(*most));
    if (!part.text.empty()) break;
  }
  response.headers.emplace_back("Muster-Launch", std::to_string(*launch));
  response.headers.emplace_back("Muster-Last-Launch", std::to_string(last));
  response.headers.emplace_back("Muster-Begin", std::to_string(part.begin));
  response.headers.emplace_back("Muster-Offset", std::to_string(part.end()));
  response.headers.emplace_back("Muster-Ended", ended ? "true" : "false");
  response.body = std::move(part.text);
  response.headers.emplace_back("Muster-Job-Over", over(*job->row) ? "true" : "false");
  call.reply(std::move(response));
}

}  // namespace muster
