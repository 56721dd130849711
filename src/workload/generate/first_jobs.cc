#include "workload/generate/first_jobs.h"

namespace muster {
namespace {

class FirstJobs final : public JobSource {
 public:
  FirstJobs(std::unique_ptr<JobSource> source, std::uint64_t jobs)
      : source_(std::move(source)), left_(jobs) {}

  const JobSpec* peek() override { return left_ == 0 ? nullptr : source_->peek(); }
  void pop() override {
    source_->pop();
    --left_;
  }
  bool finished() override { return left_ == 0 || source_->finished(); }
  std::optional<Error> error() const override { return source_->error(); }
  bool more_after(Seconds time) const override { return left_ > 1 && source_->more_after(time); }

 private:
  std::unique_ptr<JobSource> source_;
  std::uint64_t left_;
};

}  // namespace

std::unique_ptr<JobSource> first_jobs(std::unique_ptr<JobSource> source, std::uint64_t jobs) {
  if (jobs == 0) return source;
  return std::make_unique<FirstJobs>(std::move(source), jobs);
}

}  // namespace muster
