// Results that were kept in a folder, read back as columns, stories and pages.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/parts.h"
#include "report/explain.h"
#include "report/html.h"
#include "report/metric_list.h"
#include "report/result_reader.h"
#include "report/table.h"

namespace muster::python {
namespace {

struct JobNumber {
  const char* name;
  double (*get)(const JobRecord&);
};

template <auto field>
double record_field(const JobRecord& job) {
  return static_cast<double>(job.*field);
}

constexpr JobNumber kJobNumbers[] = {
    {"submit_s", record_field<&JobRecord::submit>},
    {"arrival_s", record_field<&JobRecord::arrival>},
    {"start_s", record_field<&JobRecord::start>},
    {"end_s", record_field<&JobRecord::end>},
    {"queue_s", record_field<&JobRecord::queue>},
    {"jct_s", [](const JobRecord& job) { return job.completion_time(); }},
    {"duration_s", record_field<&JobRecord::duration>},
    {"gpus", record_field<&JobRecord::gpus>},
    {"preemptions", record_field<&JobRecord::preemptions>},
    {"restarts", record_field<&JobRecord::restarts>},
    {"resizes", record_field<&JobRecord::resizes>},
    {"gpu_seconds", record_field<&JobRecord::gpu_seconds>},
    {"cost_usd", record_field<&JobRecord::cost>},
    {"lost_work_s", record_field<&JobRecord::lost_work>},
    {"overhead_s", record_field<&JobRecord::overhead>},
    {"deadline_s", record_field<&JobRecord::deadline>},
    {"priority", record_field<&JobRecord::priority>},
};

nb::dict jobs(const ResultFolder& folder) {
  std::vector<JobRecord> records;
  Symbols symbols;
  {
    const nb::gil_scoped_release release;
    must(folder.for_each_job(symbols, [&](const JobRecord& job) {
      records.push_back(job);
      return true;
    }));
  }
  nb::dict result;
  nb::list names;
  nb::list states;
  nb::list reasons;
  std::vector<std::int64_t> ids;
  for (const JobRecord& job : records) {
    ids.push_back(static_cast<std::int64_t>(index(job.id)));
    names.append(job.name.empty() ? std::to_string(index(job.id)) : job.name);
    states.append(std::string(job_state_name(job.status)));
    reasons.append(std::string(reason_name(job.reason)));
  }
  result["job"] = bytes_of(ids);
  result["job_id"] = names;
  std::vector<double> values(records.size());
  for (const JobNumber& column : kJobNumbers) {
    std::transform(records.begin(), records.end(), values.begin(), column.get);
    result[column.name] = bytes_of(values);
  }
  result["status"] = states;
  result["reason"] = reasons;
  const std::pair<const char*, Symbol JobRecord::*> texts[] = {{"user", &JobRecord::user},
                                                               {"partition", &JobRecord::partition},
                                                               {"model", &JobRecord::model}};
  for (const auto& [name, symbol] : texts) {
    nb::list list;
    for (const JobRecord& job : records) list.append(symbols.text(job.*symbol));
    result[name] = list;
  }
  return result;
}

nb::dict decisions(const ResultFolder& folder) {
  auto reader = must(folder.decisions());
  std::vector<double> times;
  std::vector<std::int64_t> jobs;
  std::vector<std::int64_t> others;
  std::vector<std::int64_t> gpus;
  std::vector<std::int64_t> details;
  nb::list actions;
  nb::list reasons;
  // One string per name.
  std::vector<nb::object> action_names;
  for (int i = 0; i <= static_cast<int>(kLastAction); ++i) {
    action_names.push_back(nb::cast(std::string(action_name(static_cast<Action>(i)))));
  }
  std::vector<nb::object> reason_names;
  for (int i = 0; i <= static_cast<int>(kLastReason); ++i) {
    reason_names.push_back(nb::cast(std::string(reason_name(static_cast<Reason>(i)))));
  }
  const auto number = [](JobId job) {
    return job == kNoJob ? std::int64_t{-1} : static_cast<std::int64_t>(index(job));
  };
  while (const Decision* decision = reader.next()) {
    times.push_back(decision->time);
    jobs.push_back(number(decision->job));
    others.push_back(number(decision->other));
    gpus.push_back(decision->gpus);
    details.push_back(decision->detail);
    actions.append(action_names[static_cast<std::size_t>(decision->action)]);
    reasons.append(reason_names[static_cast<std::size_t>(decision->reason)]);
  }
  must(reader.status());
  nb::dict result;
  result["time_s"] = bytes_of(times);
  result["action"] = actions;
  result["job"] = bytes_of(jobs);
  result["gpus"] = bytes_of(gpus);
  result["reason"] = reasons;
  result["other"] = bytes_of(others);
  result["detail"] = bytes_of(details);
  return result;
}

nb::dict timeline(const ResultFolder& folder) {
  const Timeline timeline = must(folder.timeline());
  nb::dict result;
  const std::pair<const char*, double TimelineBucket::*> columns[] = {
      {"start_s", &TimelineBucket::start},
      {"held", &TimelineBucket::held},
      {"waiting", &TimelineBucket::waiting},
      {"running", &TimelineBucket::running},
      {"usable_gpus", &TimelineBucket::usable_gpus},
      {"used_gpus", &TimelineBucket::used_gpus},
      {"demanded_gpus", &TimelineBucket::demanded_gpus},
      {"preemptions", &TimelineBucket::stops}};
  for (const auto& [name, field] : columns) {
    std::vector<double> values;
    for (const TimelineBucket& bucket : timeline.buckets) values.push_back(bucket.*field);
    result[name] = bytes_of(values);
  }
  return result;
}

std::string explain(const ResultFolder& folder, const std::string& job, bool all) {
  constexpr std::size_t kMostLines = 40;
  return story_text(must(explain_job(folder, job)), TextStyle{}, all ? 0 : kMostLines);
}

std::string page(const std::vector<std::string>& folders, const std::string& title) {
  std::vector<PageRun> runs;
  for (const std::string& path : folders) {
    runs.push_back(must(page_run(must(ResultFolder::open(path)))));
  }
  return report_page(runs, {.title = title});
}

}  // namespace

void add_results(nb::module_& module) {
  nb::class_<ResultFolder>(module, "ResultFolder")
      .def_static("open", [](const std::string& path) { return must(ResultFolder::open(path)); })
      .def_prop_ro("path", [](const ResultFolder& folder) { return folder.path(); })
      .def_prop_ro("complete", [](const ResultFolder& folder) { return folder.summary().complete; })
      .def_prop_ro("summary",
                   [](const ResultFolder& folder) { return summary_to_json(folder.summary()); })
      .def("jobs", jobs)
      .def("decisions", decisions)
      .def("timeline", timeline)
      .def("explain", explain);
  module.def("report_page", page, nb::call_guard<nb::gil_scoped_release>());
  module.def("metrics", [] {
    nb::list list;
    for (const MetricInfo& info : metric_list()) {
      list.append(nb::make_tuple(std::string(info.key), std::string(info.label),
                                 std::string(info.sentence), info.headline,
                                 info.better == Better::kLower    ? -1
                                 : info.better == Better::kHigher ? 1
                                                                  : 0));
    }
    return list;
  });
}

}  // namespace muster::python
