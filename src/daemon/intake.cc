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

namespace {

// More of the host than the machine has; empty: it has enough.
std::string too_large(const JobRequest& request, const IntakeLimits& limits) {
  if (limits.cpus > 0 && request.cpus > limits.cpus) {
    return fmt::format("it asks for {:g} CPU cores, more than the {:g} of this machine",
                       request.cpus, limits.cpus);
  }
  if (limits.memory_gb > 0 && request.memory_gb > limits.memory_gb) {
    return fmt::format("it asks for {:g} GB of memory, more than the {:.1f} of this machine",
                       request.memory_gb, limits.memory_gb);
  }
  return {};
}

std::vector<std::string> notes_on(const JobRequest& request, const IntakeLimits& limits) {
  if (!(request.memory_gb > 0) || limits.limits_memory) return {};
  return {
      "its memory is told to policies and not limited: the daemon was started without --cgroup"};
}

}  // namespace

void Intake::submit(JobRequest request, const std::string& owner, Told told) {
  const auto refuse = [&told](int status, std::string why) {
    told({kNoJob, false, status, std::move(why), {}});
  };
  if (std::string why = too_large(request, limits_); !why.empty()) {
    return refuse(400, std::move(why));
  }
  const Seconds now = clock_();
  const std::unique_lock lock(mutex_);
  if (!request.request.empty()) {
    if (const std::optional<JobId> before = board_.by_request(owner, request.request)) {
      return told({*before, true, 200, {}, {}});
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
  auto notes = notes_on(request, limits_);
  auto kept = std::make_shared<const JobRequest>(std::move(request));
  // Within the lock, so that numbers reach the disk in order.
  committer_.submit(std::move(batch),
                    [this, row, kept, told, notes = std::move(notes)](const Status& status) {
                      if (status) board_.add(row, kept);
                      {
                        const std::lock_guard inner(mutex_);
                        --waiting_[row.owner];
                        if (!row.request.empty()) requests_.erase({row.owner, row.request});
                      }
                      if (!status) return told({kNoJob, false, 503, status.error().message, {}});
                      submitted_(row, kept);
                      told({row.id, false, 201, {}, notes});
                    });
}

}  // namespace muster
