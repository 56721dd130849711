// Where jobs come from: a trace being read, a generator, a list in memory, or a live inbox.
//
// Jobs come in order of arrival and are streamed: the engine holds only those that are active.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/job_spec.h"

namespace muster {

class JobSource {
 public:
  virtual ~JobSource() = default;
  // The next job, or null when there is none now. Stable until pop(). May read ahead; a reading
  // error ends the stream and is reported by error().
  virtual const JobSpec* peek() = 0;
  virtual void pop() = 0;
  // No job will ever come again. A live inbox is finished only when it is closed.
  virtual bool finished() = 0;
  // Whether its jobs have numbers already, ascending with gaps; else the engine gives them.
  virtual bool numbers_jobs() const { return false; }
  virtual std::optional<Error> error() const { return std::nullopt; }
  // What a person should know about the jobs: how they were read, what the run does not know of
  // them. Complete once they have all come.
  virtual std::vector<std::string> notes() const { return {}; }
  // Whether a job may still come after those that arrive at `time`. True where it is not known.
  virtual bool more_after(Seconds /*time*/) const { return true; }
};

// A list that others own and share, e.g. one trace in many runs of a sweep.
class ListSource final : public JobSource {
 public:
  explicit ListSource(std::span<const JobSpec> jobs) : jobs_(jobs) {}
  const JobSpec* peek() override { return next_ < jobs_.size() ? &jobs_[next_] : nullptr; }
  void pop() override { ++next_; }
  bool finished() override { return next_ == jobs_.size(); }
  bool more_after(Seconds time) const override {
    return next_ < jobs_.size() && jobs_.back().arrival > time;
  }

 private:
  std::span<const JobSpec> jobs_;
  std::size_t next_ = 0;
};

}  // namespace muster
