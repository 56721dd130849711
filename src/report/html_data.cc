#include <cmath>

#include <fmt/format.h>

#include "report/html_parts.h"
#include "report/json.h"

namespace muster {
namespace {

constexpr std::size_t kTimelinePoints = 500;

// Six digits are more than a screen can show.
double shown(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const int digits = 5 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  const double scale = std::pow(10.0, std::abs(digits));
  return digits >= 0 ? std::round(value * scale) / scale : std::round(value / scale) * scale;
}

void write_shown_curve(JsonWriter& json, std::string_view key,
                       const std::vector<CurvePoint>& curve) {
  json.key(key).begin_object().key("x").begin_array();
  for (const CurvePoint& point : curve) json.value(shown(point.value));
  json.end_array().key("y").begin_array();
  for (const CurvePoint& point : curve) json.value(shown(point.fraction));
  json.end_array().end_object();
}

void write_timeline(JsonWriter& json, const Timeline& full) {
  const Timeline line = coarser(full, kTimelinePoints);
  const auto list = [&](std::string_view key, const auto& value_of) {
    json.key(key).begin_array();
    for (const TimelineBucket& bucket : line.buckets) json.value(shown(value_of(bucket)));
    json.end_array();
  };
  json.key("time").begin_object();
  // From the start of the run: traces count from any origin.
  json.member("width", line.width);
  list("used",
       [](const TimelineBucket& b) { return b.usable_gpus > 0 ? b.used_gpus / b.usable_gpus : 0; });
  list("line", [](const TimelineBucket& b) { return b.waiting + b.held; });
  list("running", [](const TimelineBucket& b) { return b.running; });
  json.end_object();
}

void write_gantt(JsonWriter& json, const Gantt& gantt) {
  json.key("gantt").begin_object();
  json.member("from", gantt.from).member("to", gantt.to);
  json.key("jobs").begin_array();
  for (const GanttJob& job : gantt.jobs) {
    json.begin_object()
        .member("name", std::string_view(job.name))
        .member("gpus", static_cast<double>(job.gpus));
    json.member("submit", job.submit).member("end", job.end).key("runs").begin_array();
    for (const auto& [start, end] : job.runs)
      json.begin_array().value(start).value(end).end_array();
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

void write_run(JsonWriter& json, const PageRun& run) {
  json.begin_object().member("label", std::string_view(run.info.label));
  json.member("utilization", run.summary.metrics.utilization);
  json.member("avg_queue_length", run.summary.metrics.avg_queue_length);
  write_shown_curve(json, "jct", run.summary.jct_curve);
  write_shown_curve(json, "queue", run.summary.queue_curve);
  write_timeline(json, run.timeline);
  json.key("sizes").begin_array();
  for (const GroupRow& step : size_steps(run.summary.sizes)) {
    json.begin_object().member("name", std::string_view(step.name)).member("jobs", step.jobs);
    json.member("jct", shown(step.avg_jct_s)).end_object();
  }
  json.end_array().key("waits").begin_array();
  for (const WaitCause& cause : run.summary.waits) {
    json.begin_object().member("reason", std::string_view(wait_text(cause.held, cause.reason)));
    json.member("hours", shown(cause.job_seconds / 3600)).end_object();
  }
  json.end_array();
  if (run.gantt) write_gantt(json, *run.gantt);
  json.end_object();
}

}  // namespace

std::string page_data(const std::vector<PageRun>& runs) {
  JsonWriter json;
  json.begin_object().key("runs").begin_array();
  for (const PageRun& run : runs) write_run(json, run);
  json.end_array().end_object();
  return json.take();
}

}  // namespace muster
