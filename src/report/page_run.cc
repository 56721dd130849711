#include "report/page_run.h"

#include <algorithm>
#include <map>

namespace muster {
namespace {

constexpr std::size_t kMostRows = 60;

Seconds busiest_moment(const Timeline& timeline) {
  const TimelineBucket* busiest = &timeline.buckets.front();
  for (const TimelineBucket& bucket : timeline.buckets) {
    const double queued = bucket.waiting + bucket.held;
    const double most = busiest->waiting + busiest->held;
    if (queued > most || (queued == most && bucket.used_gpus > busiest->used_gpus))
      busiest = &bucket;
  }
  return busiest->start + timeline.width / 2;
}

// Fills in when each of the chosen jobs held GPUs.
Status add_runs(const ResultFolder& result, std::map<std::uint32_t, GanttJob*>& rows) {
  auto reader = result.decisions();
  if (!reader) return reader.error();
  std::map<std::uint32_t, Seconds> running;
  while (const Decision* decision = reader->next()) {
    const auto id = static_cast<std::uint32_t>(decision->job);
    const auto row = rows.find(id);
    if (row == rows.end()) continue;
    switch (decision->action) {
      case Action::kStart:
        running[id] = decision->time;
        break;
      case Action::kStop:
      case Action::kFinish:
      case Action::kFail:
        if (const auto since = running.find(id); since != running.end()) {
          row->second->runs.emplace_back(since->second, decision->time);
          running.erase(since);
        }
        break;
      default:
        break;
    }
  }
  return reader->status();
}

Result<Gantt> make_gantt(const ResultFolder& result, const Timeline& timeline) {
  Gantt gantt;
  std::vector<JobRecord> jobs;
  Symbols symbols;
  const Status read = result.for_each_job(symbols, [&](const JobRecord& job) {
    if (job.start != kNever && job.end > job.submit) jobs.push_back(job);
    return true;
  });
  if (!read) return read.error();
  if (jobs.empty() || timeline.buckets.empty()) return gantt;
  std::sort(jobs.begin(), jobs.end(), [](const JobRecord& a, const JobRecord& b) {
    return a.submit != b.submit ? a.submit < b.submit : a.id < b.id;
  });
  // Jobs submitted around the busiest moment, two thirds of them before it.
  const Seconds moment = busiest_moment(timeline);
  const auto before = static_cast<std::size_t>(std::count_if(
      jobs.begin(), jobs.end(), [&](const JobRecord& job) { return job.submit <= moment; }));
  const std::size_t rows_wanted = std::min(kMostRows, jobs.size());
  const std::size_t lead = std::min(before, rows_wanted * 2 / 3);
  const std::size_t first = std::min(before - lead, jobs.size() - rows_wanted);
  jobs = std::vector<JobRecord>(jobs.begin() + static_cast<std::ptrdiff_t>(first),
                                jobs.begin() + static_cast<std::ptrdiff_t>(first + rows_wanted));
  gantt.from = jobs.front().submit;
  // A few long jobs must not squeeze all others: they run on beyond the right edge.
  std::vector<Seconds> ends;
  ends.reserve(jobs.size());
  for (const JobRecord& job : jobs) ends.push_back(job.end);
  std::sort(ends.begin(), ends.end());
  gantt.to = std::max(ends[ends.size() * 9 / 10], jobs.back().submit);
  gantt.jobs.reserve(jobs.size());
  std::map<std::uint32_t, GanttJob*> rows;
  for (const JobRecord& job : jobs) {
    const std::string name = job.name.empty() ? std::to_string(index(job.id)) : job.name;
    gantt.jobs.push_back({name, job.gpus, job.submit, job.end, {}});
    if (!result.has_decisions()) gantt.jobs.back().runs.emplace_back(job.start, job.end);
    rows[static_cast<std::uint32_t>(job.id)] = &gantt.jobs.back();
  }
  if (result.has_decisions()) {
    if (Status added = add_runs(result, rows); !added) return added.error();
  }
  return gantt;
}

}  // namespace

Timeline coarser(const Timeline& timeline, std::size_t most) {
  std::size_t step = 1;
  while ((timeline.buckets.size() + step - 1) / step > std::max<std::size_t>(most, 1)) step *= 2;
  Timeline result;
  result.width = timeline.width * static_cast<double>(step);
  for (std::size_t i = 0; i < timeline.buckets.size(); i += step) {
    const std::size_t end = std::min(i + step, timeline.buckets.size());
    TimelineBucket sum;
    for (std::size_t j = i; j < end; ++j) {
      const TimelineBucket& bucket = timeline.buckets[j];
      sum.held += bucket.held;
      sum.waiting += bucket.waiting;
      sum.running += bucket.running;
      sum.usable_gpus += bucket.usable_gpus;
      sum.used_gpus += bucket.used_gpus;
      sum.demanded_gpus += bucket.demanded_gpus;
      sum.stops += bucket.stops;
    }
    const auto count = static_cast<double>(end - i);
    for (double* const value : {&sum.held, &sum.waiting, &sum.running, &sum.usable_gpus,
                                &sum.used_gpus, &sum.demanded_gpus}) {
      *value /= count;
    }
    sum.start = timeline.buckets[i].start;
    result.buckets.push_back(sum);
  }
  return result;
}

Result<PageRun> page_run(const ResultFolder& result) {
  PageRun run;
  run.info = result.summary().info;
  run.summary = result.summary().summary;
  run.complete = result.summary().complete;
  run.incomplete_because = result.summary().incomplete_because;
  auto timeline = result.timeline();
  if (!timeline) return timeline.error();
  run.timeline = std::move(*timeline);
  if (run.summary.metrics.jobs > 0 && run.summary.metrics.jobs <= kMostGanttJobs &&
      result.has_jobs()) {
    auto gantt = make_gantt(result, run.timeline);
    if (!gantt) return gantt.error();
    if (!gantt->jobs.empty()) run.gantt = std::move(*gantt);
  }
  return run;
}

}  // namespace muster
