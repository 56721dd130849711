#include "run/assembly/jobs.h"

#include <fmt/format.h>

#include "base/text.h"
#include "run/assembly/job_tables.h"
#include "workload/data/sha256.h"
#include "workload/generate/generators.h"
#include "workload/trace_reader.h"

namespace muster {
namespace {

TraceOptions trace_options(const WorkloadConfig& workload) {
  TraceOptions options;
  options.format = workload.format;
  options.settings = workload.settings;
  options.skip_bad = workload.skip_bad;
  options.statuses = workload.statuses;
  if (workload.rebase == "yes") options.rebase = Rebase::kYes;
  if (workload.rebase == "no") options.rebase = Rebase::kNo;
  return options;
}

// Jobs of a list that the source itself keeps alive.
class OwnedList final : public JobSource {
 public:
  OwnedList(std::vector<JobSpec> jobs, std::vector<std::string> notes)
      : jobs_(std::move(jobs)), list_(jobs_), notes_(std::move(notes)) {}
  const JobSpec* peek() override { return list_.peek(); }
  void pop() override { list_.pop(); }
  bool finished() override { return list_.finished(); }
  std::vector<std::string> notes() const override { return notes_; }

 private:
  std::vector<JobSpec> jobs_;
  ListSource list_;
  std::vector<std::string> notes_;
};

// The first `limit` jobs of another source, arriving `speed` times as fast.
class Adjusted final : public JobSource {
 public:
  Adjusted(std::unique_ptr<JobSource> inner, const WorkloadConfig& workload)
      : inner_(std::move(inner)), speed_(workload.speed), limit_(workload.limit) {}
  const JobSpec* peek() override {
    if (limit_ > 0 && taken_ == limit_) return nullptr;
    const JobSpec* job = inner_->peek();
    if (job == nullptr || speed_ == 1) return job;
    if (!ready_) {
      job_ = *job;
      const Seconds moved = job->submit / speed_ - job->submit;
      job_.submit = job->submit / speed_;
      job_.arrival = job->arrival / speed_;
      if (job_.deadline != kNever) job_.deadline += moved;
      ready_ = true;
    }
    return &job_;
  }
  void pop() override {
    inner_->pop();
    ready_ = false;
    ++taken_;
  }
  bool finished() override { return (limit_ > 0 && taken_ == limit_) || inner_->finished(); }
  std::optional<Error> error() const override { return inner_->error(); }
  std::vector<std::string> notes() const override { return inner_->notes(); }

 private:
  std::unique_ptr<JobSource> inner_;
  double speed_;
  long long limit_;
  long long taken_ = 0;
  JobSpec job_;
  bool ready_ = false;
};

// A description that was kept with a result names the bytes of its trace.
Status check_unchanged(const WorkloadConfig& workload) {
  if (workload.sha256.empty() || workload.trace == "-") return Done{};
  const auto found = sha256_of_file(workload.trace);
  if (!found) return found.error();
  if (*found == workload.sha256) return Done{};
  return Error{fmt::format(
      "{} is not the file that the description was made with: its SHA-256 is {}, expected {}. "
      "Remove the key sha256 from [workload] to run it as it is now",
      workload.trace, *found, workload.sha256)};
}

Result<std::unique_ptr<JobSource>> open_source(const WorkloadConfig& workload, Symbols& symbols,
                                               const std::function<bool()>& keep_going,
                                               std::uint64_t& expected) {
  expected = 0;
  if (workload.trace.empty()) {
    auto generated = make_generator(workload.generator.name, workload.generator.params, symbols);
    if (!generated) return generated.error();
    const auto jobs = workload.generator.params.find("jobs");
    if (jobs != workload.generator.params.end()) {
      expected = static_cast<std::uint64_t>(parse_integer(jobs->second).value_or(0));
    }
    return std::move(generated->source);
  }
  if (Status same = check_unchanged(workload); !same) return same.error();
  if (workload.stream) return open_trace(workload.trace, trace_options(workload), symbols);
  TraceOptions options = trace_options(workload);
  options.keep_going = keep_going;
  auto trace = load_trace(workload.trace, options, symbols);
  if (!trace) return trace.error();
  if (Status joined = add_job_tables(trace->jobs, workload, symbols); !joined) {
    return joined.error();
  }
  expected = trace->jobs.size();
  return std::unique_ptr<JobSource>(
      std::make_unique<OwnedList>(std::move(trace->jobs), notes_of(trace->stats)));
}

}  // namespace

Result<OpenedJobs> open_jobs(const WorkloadConfig& workload, Symbols& symbols,
                             const std::function<bool()>& keep_going) {
  OpenedJobs opened;
  auto source = open_source(workload, symbols, keep_going, opened.expected);
  if (!source) return source.error();
  opened.source = std::move(*source);
  if (workload.limit > 0) {
    const auto limit = static_cast<std::uint64_t>(workload.limit);
    opened.expected = opened.expected == 0 ? limit : std::min(opened.expected, limit);
  }
  if (workload.limit > 0 || workload.speed != 1) {
    opened.source = std::make_unique<Adjusted>(std::move(opened.source), workload);
  }
  return opened;
}

Result<std::shared_ptr<const SharedJobs>> load_jobs(const WorkloadConfig& workload,
                                                    const std::function<bool()>& keep_going) {
  constexpr std::size_t kLookEvery = 4096;
  auto shared = std::make_shared<SharedJobs>();
  auto opened = open_jobs(workload, shared->symbols, keep_going);
  if (!opened) return opened.error();
  shared->jobs.reserve(opened->expected);
  // While a trace was read whole, it was asked already.
  const bool looks = keep_going && (workload.trace.empty() || workload.stream);
  while (const JobSpec* job = opened->source->peek()) {
    shared->jobs.push_back(*job);
    opened->source->pop();
    if (looks && shared->jobs.size() % kLookEvery == 0 && !keep_going()) {
      return Error{"reading the workload was stopped"};
    }
  }
  if (auto error = opened->source->error()) return *error;
  shared->notes = opened->source->notes();
  return std::shared_ptr<const SharedJobs>(std::move(shared));
}

}  // namespace muster
