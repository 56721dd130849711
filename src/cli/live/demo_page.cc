#include "cli/live/demo_page.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "report/html.h"

namespace muster {
namespace {

// The state of the cluster at every moment at which it changed.
Timeline timeline_of(const DemoRun& run, int gpus) {
  std::set<Seconds> moments;
  for (const JobRecord& job : run.records) moments.insert({job.submit, job.end});
  for (const auto& [id, spans] : run.spans) {
    for (const DemoSpan& span : spans) moments.insert({span.from, span.to});
  }
  TimelineFold fold;
  Seconds previous = moments.empty() ? 0 : *moments.begin();
  for (const Seconds now : moments) {
    TurnStats state;
    state.time = now;
    state.previous = std::exchange(previous, now);
    state.usable_gpus = gpus;
    for (const JobRecord& job : run.records) {
      if (now < job.submit || now >= job.end) continue;
      state.demanded_gpus += job.gpus;
      const std::vector<DemoSpan>& spans = run.spans.at(job.id);
      const auto span = std::find_if(spans.begin(), spans.end(), [now](const DemoSpan& one) {
        return one.from <= now && now < one.to;
      });
      (span == spans.end() ? state.waiting : state.running) += 1;
      if (span != spans.end()) state.used_gpus += span->gpus;
    }
    fold.on_turn(state);
  }
  return fold.timeline();
}

Gantt gantt_of(const DemoRun& run) {
  Gantt gantt;
  for (const JobRecord& job : run.records) {
    GanttJob& row = gantt.jobs.emplace_back();
    row.name = job.name;
    row.gpus = job.gpus;
    row.submit = job.submit;
    row.end = job.end;
    for (const DemoSpan& span : run.spans.at(job.id)) row.runs.emplace_back(span.from, span.to);
    gantt.to = std::max(gantt.to, job.end);
  }
  return gantt;
}

}  // namespace

Status write_demo_page(const std::string& path, const std::vector<DemoRun>& runs, int gpus) {
  const Symbols nobody;
  std::vector<PageRun> pages;
  for (const DemoRun& run : runs) {
    PageRun& page = pages.emplace_back();
    page.info.label = run.label;
    page.info.settings = {{"cluster", fmt::format("1x{}", gpus)},
                          {"trace", fmt::format("{} jobs of the demo", run.records.size())}};
    page.info.rerun = "muster demo --live";
    MetricsFold fold(nobody);
    for (const JobRecord& record : run.records) fold.on_job_end(record);
    page.summary = fold.summary();
    page.timeline = timeline_of(run, gpus);
    page.gantt = gantt_of(run);
  }
  return write_report(path, pages, {.title = "A live run and its simulation"});
}

}  // namespace muster
