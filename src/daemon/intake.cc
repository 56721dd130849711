#include "daemon/intake.h"

#include <fmt/format.h>

namespace muster {

Intake::Intake(Board& board, Committer& committer, IntakeLimits limits, std::uint32_t next,
               std::function<Seconds()> clock, Submitted submitted)
    : board_(board),
      committer_(committer),
      limits_(limits),
      clock_(std::move(clock)),
      submitted_(std::move(submitted)),
      next_(next) {}

void Intake::submit(JobRequest request, const std::string& owner, Told told) {
  const auto refuse = [&told](int status, std::string why) {
    told({kNoJob, false, status, std::move(why)});
  };
  const Seconds now = clock_();
  const std::unique_lock lock(mutex_);
  if (!request.request.empty()) {
    if (const std::optional<JobId> before = board_.by_request(owner, request.request)) {
      return told({*before, true, 200, {}});
    }
    if (requests_.contains({owner, request.request})) {
      return refuse(409, "a submission with this request id is on its way; ask again in a moment");
    }
  }
  std::size_t& waiting = waiting_[owner];
  if (board_.active_of(owner) + waiting >= limits_.jobs_per_user) {
    return refuse(429, fmt::format("'{}' has {} jobs that are not over, and no more are allowed",
                                   owner, limits_.jobs_per_user));
  }
  StoredJob row;
  row.id = JobId{next_++};
  row.owner = owner;
  row.name = request.name;
  row.request = request.request;
  row.state = "submitted";
  row.reason = "it was submitted";
  row.description = job_request_text(request);
  row.submitted = now;
  ++waiting;
  if (!row.request.empty()) requests_.emplace(owner, row.request);
  Batch batch;
  batch.jobs.push_back(row);
  auto kept = std::make_shared<const JobRequest>(std::move(request));
  // Within the lock, so that numbers reach the disk in order.
  committer_.submit(std::move(batch), [this, row, kept, told](const Status& status) {
    if (status) board_.add(row, kept);
    {
      const std::lock_guard inner(mutex_);
      --waiting_[row.owner];
      if (!row.request.empty()) requests_.erase({row.owner, row.request});
    }
    if (!status) return told({kNoJob, false, 503, status.error().message});
    submitted_(row, kept);
    told({row.id, false, 201, {}});
  });
}

}  // namespace muster
