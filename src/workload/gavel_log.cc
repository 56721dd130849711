#include "workload/gavel_log.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "workload/byte_input.h"
#include "workload/timestamp.h"

namespace muster {
namespace {

// The number that follows `before`, and what follows that.
std::optional<std::uint64_t> number_after(std::string_view& text, std::string_view before) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + before.size());
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (code != std::errc()) return std::nullopt;
  text = rest.substr(static_cast<std::size_t>(end - rest.data()));
  return value;
}

bool read_time(std::string_view line, Seconds& time) {
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return false;
  }
  return read_timestamp(line.substr(open + 1, close - open - 1), time);
}

}  // namespace

Result<GavelLog> GavelLog::load(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{4} << 30;  // they hold every micro-task
  auto text = read_whole(path, kMost);
  if (!text) return text.error();
  return parse(*text, path);
}

Result<GavelLog> GavelLog::parse(std::string_view text, const std::string& name) {
  GavelLog log;
  log.name_ = name;
  bool any = false;
  for (const std::string_view line : split(text, '\n')) {
    log.read_line(line);
    Seconds time = 0;
    if (!read_time(line, time)) continue;  // its servers write other times, or none
    if (!any) log.first_ = time;
    log.last_ = std::max(time, log.first_);
    any = true;
  }
  if (!any) {
    return Error{
        fmt::format("{}: not a log of Gavel's scheduler; expected lines with a time, as in "
                    "[2020-08-01 12:00:00.000000]",
                    name)};
  }
  return log;
}

void GavelLog::read_line(std::string_view line) {
  if (std::string_view rest = line; rest.find("remaining steps") != rest.npos) {
    const auto job = number_after(rest, "Job ");
    const auto steps = job ? number_after(rest, " has ") : std::nullopt;
    if (!steps) return;
    jobs_[*job].left = static_cast<double>(*steps);
    jobs_[*job].in_progress.clear();
    return;
  }
  if (std::string_view rest = line; rest.find("Received lease update request") != rest.npos) {
    const auto job = number_after(rest, "job_id=");
    const auto worker = job ? number_after(rest, "worker_id=") : std::nullopt;
    const auto steps = job ? number_after(rest, " steps=") : std::nullopt;
    if (!steps) return;
    // Every worker says how far it is since the micro-task began.
    std::vector<double>& by_worker = jobs_[*job].in_progress;
    const std::size_t at = worker ? *worker : by_worker.size();
    constexpr std::size_t kMostWorkers = 1'000'000;
    if (at >= kMostWorkers) return;
    if (by_worker.size() <= at) by_worker.resize(at + 1, 0.0);
    by_worker[at] = static_cast<double>(*steps);
    return;
  }
  if (line.find("[Job succeeded]") != line.npos || line.find("[Job failed]") != line.npos) {
    if (const auto job = number_after(line, "Job ID: ")) jobs_[*job].over = true;
  }
}

Result<std::vector<JobSpec>> GavelLog::remaining(const std::vector<JobSpec>& jobs) const {
  if (!jobs_.empty() && jobs_.rbegin()->first >= jobs.size()) {
    return Error{fmt::format(
        "{}: it tells of job {}, but the trace has {} jobs, numbered from 0; give the trace that "
        "the log was made with",
        name_, jobs_.rbegin()->first, jobs.size())};
  }
  std::vector<JobSpec> left;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    JobSpec job = jobs[i];
    if (const auto found = jobs_.find(i); found != jobs_.end()) {
      const Work& work = found->second;
      if (work.over) continue;
      const double before = job.iterations;
      const double known = work.left < 0 ? before : work.left;
      job.iterations = std::max(
          1.0, known - std::accumulate(work.in_progress.begin(), work.in_progress.end(), 0.0));
      if (before > 0) job.duration *= job.iterations / before;
    }
    if (job.deadline != kNever) job.deadline = std::max(0.0, job.deadline - elapsed());
    job.submit = std::max(0.0, job.submit - elapsed());
    job.arrival = job.submit;
    left.push_back(std::move(job));
  }
  return left;
}

}  // namespace muster
