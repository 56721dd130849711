#include "backend/slurm/dependency.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace muster {
namespace {

using SlurmQueue = std::map<std::uint32_t, SlurmJob>;

JobDue worse(JobDue a, JobDue b) { return std::max(a, b); }
JobDue better(JobDue a, JobDue b) { return std::min(a, b); }

// What one job that is depended on says.
JobDue after_other(std::string_view kind, const SlurmJob& other) {
  const bool ended = slurm_ended(other.state);
  if (kind == "after") {
    const bool waits = other.state == SlurmState::kPending || other.state == SlurmState::kUnknown;
    return waits ? JobDue::kLater : JobDue::kNow;
  }
  if (!ended) return JobDue::kLater;
  const bool well = other.state == SlurmState::kCompleted;
  if (kind == "afterok") return well ? JobDue::kNow : JobDue::kInVain;
  if (kind == "afternotok") return well ? JobDue::kInVain : JobDue::kNow;
  return JobDue::kNow;
}

// Earlier jobs of the same user and name must be over.
JobDue singleton(const SlurmJob& job, const SlurmQueue& rows) {
  for (const auto& [id, other] : rows) {
    if (id < job.id && !slurm_ended(other.state) && other.user_id == job.user_id &&
        other.name == job.name) {
      return JobDue::kLater;
    }
  }
  return JobDue::kNow;
}

// afterok:12+5(unfulfilled), after:12_3, singleton(unfulfilled)
JobDue judge_one(std::string_view one, const SlurmJob& job, const SlurmQueue& rows) {
  const std::string_view words = one.substr(0, one.find('('));
  const std::string_view said = one.substr(words.size());
  if (said == "(failed)") return JobDue::kInVain;
  if (said == "(fulfilled)") return JobDue::kNow;
  const std::size_t colon = words.find(':');
  const std::string_view kind = words.substr(0, colon);
  if (kind == "singleton") return singleton(job, rows);
  if (colon == std::string_view::npos) return JobDue::kNow;
  const std::string_view rest = words.substr(colon + 1);
  const auto number = parse_integer(rest.substr(0, rest.find_first_of("_+")));
  if (!number) return JobDue::kNow;
  JobDue answer = JobDue::kNow;
  for (const auto& [id, other] : rows) {
    if (id != *number && other.group != *number) continue;
    answer = worse(answer, after_other(kind, other));
  }
  return answer;
}

}  // namespace

JobDue job_due(const SlurmJob& job, const std::map<std::uint32_t, SlurmJob>& rows, double now) {
  if (job.eligible > now) return JobDue::kLater;
  if (job.dependency.empty()) return JobDue::kNow;
  // All of a list with commas, one of a list with question marks.
  if (job.dependency.find('?') != std::string::npos) {
    JobDue answer = JobDue::kInVain;
    for (const std::string_view one : split(job.dependency, '?')) {
      answer = better(answer, judge_one(trim(one), job, rows));
    }
    return answer;
  }
  JobDue answer = JobDue::kNow;
  for (const std::string_view one : split(job.dependency, ',')) {
    answer = worse(answer, judge_one(trim(one), job, rows));
  }
  return answer;
}

}  // namespace muster
