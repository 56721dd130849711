// Traces: reading, drawing, columns in both directions, choosing jobs, writing.
#include "core/trace.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/convert.h"
#include "core/job_columns.h"
#include "core/parts.h"
#include "core/watched.h"
#include "workload/job_check.h"
#include "workload/trace_writer.h"

namespace muster::python {
namespace {

constexpr std::uint64_t kJobsPerLook = 4096;  // between two questions of load_jobs()

// The first fault of the jobs, with the row it is in.
void check_jobs(const std::vector<JobSpec>& jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (plainly_fine(jobs[i])) continue;
    const JobFaults faults = find_faults(jobs[i]) & fatal_faults();
    if (faults != 0) throw MusterError(fmt::format("row {}: {}", i, fault_text(jobs[i], faults)));
  }
}

void check_order(const std::vector<JobSpec>& jobs) {
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    if (jobs[i].submit >= jobs[i - 1].submit) continue;
    throw MusterError(
        fmt::format("row {} is submitted at {} s, before row {} at {} s: sort the rows by "
                    "submit_s, or pass sort=True",
                    i, jobs[i].submit, i - 1, jobs[i - 1].submit));
  }
}

enum class Missing { kUsual, kWrong };  // what a value that is not there means

void set_numbers(std::vector<JobSpec>& jobs, const NumberColumn& column, nb::handle values,
                 Missing missing) {
  const Numbers<double> numbers(values);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const double value = numbers[i];
    // Missing, as an empty cell of a file is.
    if (std::isnan(value) && !column.required && missing == Missing::kUsual) continue;
    if (std::isnan(value) ||
        (column.whole && (value != std::floor(value) || std::abs(value) > 2e9))) {
      throw MusterError(fmt::format("row {}: {} is {}, expected a {}", i, column.name, value,
                                    column.whole ? "whole number" : "number"));
    }
    column.set(jobs[i], value);
  }
}

// The steps of value after the deadline, which is set already.
void set_steps(std::vector<JobSpec>& jobs, const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto steps = steps_from(texts[i]);
    if (!steps) {
      throw MusterError(fmt::format(
          "row {}: {} is '{}', expected TIME:VALUE with ';' between, each later than the one "
          "before, as 7200:8;9000:5",
          i, kStepsColumn, texts[i]));
    }
    jobs[i].later = *steps;
  }
}

void check_steps(const std::vector<JobSpec>& jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].later.empty() || jobs[i].later.front().by > jobs[i].deadline) continue;
    throw MusterError(fmt::format("row {}: {} begins at {} s, expected {}", i, kStepsColumn,
                                  jobs[i].later.front().by,
                                  jobs[i].deadline == kNever ? "nothing, as the job has no deadline"
                                                             : "a time after the deadline"));
  }
}

// Steps follow the deadline that they begin at.
void move_steps(std::vector<JobSpec>& jobs, const std::vector<JobSpec>& before) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].later.empty()) continue;
    if (jobs[i].deadline == kNever) {
      jobs[i].later.clear();
      continue;
    }
    for (ValueStep& step : jobs[i].later) step.by += jobs[i].deadline - before[i].deadline;
  }
}

TraceJobs from_columns(std::size_t rows, const nb::dict& numbers, const nb::dict& texts,
                       bool sort) {
  auto shared = std::make_shared<SharedJobs>();
  shared->jobs.resize(rows);
  for (const NumberColumn& column : number_columns()) {
    if (numbers.contains(column.name)) {
      set_numbers(shared->jobs, column, numbers[column.name], Missing::kUsual);
    } else if (column.required) {
      throw MusterError(fmt::format("a trace needs the column {}", column.name));
    }
  }
  for (const TextColumn& column : text_columns()) {
    if (!texts.contains(column.name)) continue;
    const auto values = nb::cast<std::vector<std::string>>(texts[column.name]);
    for (std::size_t i = 0; i < rows; ++i) {
      shared->jobs[i].*column.symbol = shared->symbols.intern(values[i]);
    }
  }
  if (texts.contains("job_id")) {
    auto names = nb::cast<std::vector<std::string>>(texts["job_id"]);
    for (std::size_t i = 0; i < rows; ++i) shared->jobs[i].name = std::move(names[i]);
  }
  if (texts.contains(kStepsColumn)) {
    set_steps(shared->jobs, nb::cast<std::vector<std::string>>(texts[kStepsColumn]));
  }
  check_jobs(shared->jobs);
  check_steps(shared->jobs);
  if (!sort) check_order(shared->jobs);
  std::stable_sort(shared->jobs.begin(), shared->jobs.end(),
                   [](const JobSpec& a, const JobSpec& b) { return a.submit < b.submit; });
  for (JobSpec& job : shared->jobs) job.arrival = job.submit;
  return {std::move(shared), {}};
}

nb::dict columns(const TraceJobs& trace) {
  const SharedJobs& shared = *trace.jobs;
  nb::dict result;
  nb::list names;
  for (std::size_t i = 0; i < shared.jobs.size(); ++i) {
    const std::string& name = shared.jobs[i].name;
    names.append(name.empty() ? std::to_string(i) : name);
  }
  result["job_id"] = names;
  std::vector<double> values(shared.jobs.size());
  for (const NumberColumn& column : number_columns()) {
    std::transform(shared.jobs.begin(), shared.jobs.end(), values.begin(), column.get);
    result[column.name] = bytes_of(values);
  }
  // One Python string per name, however many jobs have it.
  std::vector<nb::str> texts;
  for (std::size_t i = 0; i < shared.symbols.size(); ++i) {
    texts.emplace_back(shared.symbols.text(Symbol{static_cast<std::uint32_t>(i)}).c_str());
  }
  for (const TextColumn& column : text_columns()) {
    nb::list list;
    for (const JobSpec& job : shared.jobs)
      list.append(texts[static_cast<std::size_t>(job.*column.symbol)]);
    result[column.name] = list;
  }
  nb::list steps;
  for (const JobSpec& job : shared.jobs) steps.append(steps_text(job));
  result[kStepsColumn] = steps;
  return result;
}

TraceJobs take(const TraceJobs& trace, nb::handle rows, double origin) {
  const Numbers<std::int64_t> chosen(rows);
  auto shared = std::make_shared<SharedJobs>();
  shared->symbols = Symbols(trace.jobs->symbols);
  shared->notes = trace.jobs->notes;
  shared->jobs.reserve(chosen.size());
  for (const std::int64_t row : chosen) {
    JobSpec& job = shared->jobs.emplace_back(trace.jobs->jobs.at(static_cast<std::size_t>(row)));
    if (job.name.empty()) job.name = std::to_string(row);
    job.submit -= origin;
    job.arrival -= origin;
    if (job.deadline != kNever) job.deadline -= origin;
    for (ValueStep& step : job.later) step.by -= origin;
  }
  check_order(shared->jobs);
  return {std::move(shared), {}};
}

// With other values in some columns; the others stay, those included that have no column.
TraceJobs with_columns(const TraceJobs& trace, const nb::dict& numbers, const nb::dict& texts,
                       bool sort) {
  auto shared = std::make_shared<SharedJobs>();
  shared->symbols = Symbols(trace.jobs->symbols);
  shared->notes = trace.jobs->notes;
  shared->jobs = trace.jobs->jobs;
  for (const NumberColumn& column : number_columns()) {
    if (!numbers.contains(column.name)) continue;
    set_numbers(shared->jobs, column, numbers[column.name], Missing::kWrong);
  }
  for (const TextColumn& column : text_columns()) {
    if (!texts.contains(column.name)) continue;
    const auto values = nb::cast<std::vector<std::string>>(texts[column.name]);
    for (std::size_t i = 0; i < shared->jobs.size(); ++i) {
      shared->jobs[i].*column.symbol = shared->symbols.intern(values[i]);
    }
  }
  if (texts.contains(kStepsColumn)) {
    set_steps(shared->jobs, nb::cast<std::vector<std::string>>(texts[kStepsColumn]));
  } else if (numbers.contains("deadline_s")) {
    move_steps(shared->jobs, trace.jobs->jobs);
  }
  check_jobs(shared->jobs);
  check_steps(shared->jobs);
  if (!sort) check_order(shared->jobs);
  std::stable_sort(shared->jobs.begin(), shared->jobs.end(),
                   [](const JobSpec& a, const JobSpec& b) { return a.submit < b.submit; });
  if (numbers.contains("submit_s")) {
    for (JobSpec& job : shared->jobs) job.arrival = job.submit;
  }
  return {std::move(shared), {}};
}

// Files may have jobs of one name: a history has, of jobs that were queued again.
std::vector<std::string> twins(const std::vector<JobSpec>& jobs) {
  std::unordered_set<std::string_view> seen;
  seen.reserve(jobs.size());
  std::size_t count = 0;
  const std::string* first = nullptr;
  for (const JobSpec& job : jobs) {
    if (job.name.empty() || seen.insert(job.name).second) continue;
    if (++count == 1) first = &job.name;
  }
  if (count == 0) return {};
  return {
      fmt::format("{} jobs have the job_id of an earlier one, first '{}': explain() tells of "
                  "one of them; their numbers tell them apart",
                  count, *first)};
}

TraceJobs read(const nb::dict& settings, nb::object progress) {
  RunConfig config = described(settings, {});
  if (config.workload.limit < 0) throw MusterError("limit must not be negative");
  TraceJobs trace{load_watched(config.workload, std::move(progress)), config.workload};
  trace.notes = twins(trace.jobs->jobs);
  return trace;
}

TraceJobs generate(const nb::dict& settings, nb::object progress) {
  const RunConfig config = must(complete_config(described(settings, {})));
  return {load_watched(config.workload, std::move(progress)), config.workload};
}

void write(const TraceJobs& trace, const std::string& path, const std::string& format,
           nb::object progress) {
  auto writer = must(create_trace(path, format, trace.jobs->symbols));
  Watch watch;
  watched(watch, {std::move(progress), 0, {}}, [&] {
    for (const JobSpec& job : trace.jobs->jobs) {
      // A writer that is not finished leaves no file.
      if (!watch.keep_going()) return;
      must(writer->write(job));
      watch.progress.fetch_add(1, std::memory_order_relaxed);
    }
    must(writer->finish());
  });
}

}  // namespace

std::shared_ptr<const SharedJobs> load_watched(const WorkloadConfig& workload,
                                               nb::object progress) {
  Watch watch;
  std::shared_ptr<const SharedJobs> jobs;
  watched(watch, {std::move(progress), 0, {}}, [&] {
    jobs = must(load_jobs(workload, [&watch] {
      watch.progress += kJobsPerLook;
      return watch.keep_going();
    }));
  });
  return jobs;
}

void add_traces(nb::module_& module) {
  nb::class_<TraceJobs>(module, "TraceJobs")
      .def("__len__", [](const TraceJobs& trace) { return trace.jobs->jobs.size(); })
      .def_prop_ro("notes",
                   [](const TraceJobs& trace) {
                     std::vector<std::string> notes = trace.jobs->notes;
                     notes.insert(notes.end(), trace.notes.begin(), trace.notes.end());
                     return notes;
                   })
      .def("columns", columns)
      .def("take", take, nb::arg("rows"), nb::arg("origin"))
      .def("with_columns", with_columns)
      .def("write", write, nb::arg("path"), nb::arg("format"), nb::arg("progress").none());
  module.def("trace_from_columns", from_columns);
  module.def("read_trace", read, nb::arg("settings"), nb::arg("progress").none());
  module.def("generate_trace", generate, nb::arg("settings"), nb::arg("progress").none());
  module.def("trace_columns", [] {
    nb::list numbers;
    for (const NumberColumn& column : number_columns()) numbers.append(column.name);
    nb::list texts;
    texts.append("job_id");
    for (const TextColumn& column : text_columns()) texts.append(column.name);
    texts.append(kStepsColumn);
    return nb::make_tuple(numbers, texts);
  });
}

}  // namespace muster::python
