#include "workload/trace_reader.h"

#include <algorithm>
#include <cstdint>
#include <sys/mman.h>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::size_t kHead = std::size_t{1} << 16;
constexpr Seconds kWallClock = 1e9;

void move_times(JobSpec& job, Seconds origin) {
  job.submit -= origin;
  job.deadline -= origin;  // kNever stays kNever
  for (ValueStep& step : job.later) step.by -= origin;
  job.arrival = job.submit;
}

Seconds origin_of(Rebase rebase, Seconds first) {
  const bool moves = rebase == Rebase::kYes || (rebase == Rebase::kAuto && first >= kWallClock);
  return moves ? first : 0;
}

// Memory that is used for the first time comes from the kernel page by page, which took a third of
// the time of reading a trace.
void want_large_pages(const std::vector<JobSpec>& reserved) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kLarge = std::uintptr_t{1} << 21;
  const auto* const data = reinterpret_cast<const char*>(reserved.data());
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (begin + kLarge - 1) / kLarge * kLarge;
  const std::uintptr_t last = (begin + reserved.capacity() * sizeof(JobSpec)) / kLarge * kLarge;
  if (first < last) madvise(const_cast<char*>(data) + (first - begin), last - first, MADV_HUGEPAGE);
#endif
}

bool blank(std::string_view line) { return trim(line).empty(); }

// Sorts by time; position breaks ties, so that the sort is stable. Jobs are large: numbers are
// sorted, and each job then moves once to its place, along the cycles of the permutation.
void sort_jobs(std::vector<JobSpec>& jobs, std::vector<std::pair<Seconds, std::uint32_t>>& order) {
  std::sort(order.begin(), order.end());
  for (std::uint32_t start = 0; start < order.size(); ++start) {
    if (order[start].second == start) continue;
    JobSpec first = std::move(jobs[start]);
    std::uint32_t place = start;
    while (order[place].second != start) {
      const std::uint32_t from = std::exchange(order[place].second, place);
      jobs[place] = std::move(jobs[from]);
      place = from;
    }
    order[place].second = place;
    jobs[place] = std::move(first);
  }
}

std::string no_jobs_text(const std::string& name, const TraceStats& stats) {
  std::string why = fmt::format("{} records read", stats.records);
  for (const auto& [reason, count] : stats.skipped)
    why += fmt::format(", {} skipped: {}", count, reason);
  if (stats.bad > 0) why += fmt::format(", {} bad", stats.bad);
  return fmt::format("{}: no jobs in this trace ({})", name, why);
}

std::string unknown_format_text(const std::string& name, std::string_view head) {
  const std::string_view first = trim(head).substr(0, 80);
  if (first.starts_with('{') && head.find("Slurm") != std::string_view::npos) {
    return fmt::format("{}: Slurm's JSON is not read; write its accounts with `{}`", name,
                       (*find_trace_format("sacct"))->source);
  }
  return fmt::format(
      "{}: cannot tell which trace format this is; it begins with '{}'. Name its format, as in "
      "`muster simulate FILE --format NAME` or `muster trace convert FILE COPY --format NAME`, one "
      "of: {}",
      name, first.substr(0, first.find_first_of("\r\n")), fmt::join(trace_format_names(), ", "));
}

}  // namespace

TraceReader::TraceReader(std::string name, const TraceOptions& options,
                         std::unique_ptr<RecordReader> records, std::unique_ptr<TraceParser> parser,
                         const TraceFormat& format)
    : name_(std::move(name)),
      options_(options),
      records_(std::move(records)),
      parser_(std::move(parser)) {
  stats_.format = format.name;
  refused_ = options_.unchecked ? 0 : fatal_faults();
  // Whoever moves the times or sorts later looks at negative times then.
  if (options_.any_order || options_.rebase == Rebase::kYes) {
    refused_ &= ~fault_bit(JobFault::kNegativeSubmit);
  }
}

Result<std::unique_ptr<TraceReader>> TraceReader::open(const std::string& path,
                                                       const TraceOptions& options,
                                                       Symbols& symbols) {
  auto input = open_bytes(path);
  if (!input) return input.error();
  return read(std::move(*input), path == "-" ? "standard input" : path, options, symbols);
}

Result<std::unique_ptr<TraceReader>> TraceReader::read(std::unique_ptr<ByteInput> input,
                                                       std::string name,
                                                       const TraceOptions& options,
                                                       Symbols& symbols) {
  InputWindow window(std::move(input));
  const std::string_view head = window.ahead(kHead);
  if (window.error()) return Error{fmt::format("{}: {}", name, window.error()->message)};
  if (blank(head)) return Error{fmt::format("{}: the file is empty", name)};

  const TraceFormat* format = nullptr;
  if (options.format.empty()) {
    format = detect_trace_format(head);
    if (format == nullptr) return Error{unknown_format_text(name, head)};
  } else {
    auto found = find_trace_format(options.format);
    if (!found) return found.error();
    format = *found;
  }
  const auto settings = Params::make(fmt::format("trace format '{}'", format->name),
                                     format->settings(), options.settings);
  if (!settings) return settings.error();
  auto parser = format->make(*settings, symbols);
  if (!parser) return parser.error();

  const std::size_t size_hint = window.size_hint();
  auto records = format->shape == TraceFormat::Shape::kJson ? make_json_reader(std::move(window))
                                                            : make_line_reader(std::move(window));
  if (format->begins != nullptr) records = make_joined_reader(std::move(records), format->begins);
  std::unique_ptr<TraceReader> reader(
      new TraceReader(std::move(name), options, std::move(records), std::move(*parser), *format));
  reader->size_hint_ = size_hint;
  if (format->shape == TraceFormat::Shape::kTable) {
    std::string_view line;
    bool found = false;
    while (!found && reader->records_->next(line)) found = !blank(line);
    if (const auto& error = reader->records_->error()) return reader->where(error->message);
    const Status understood = reader->parser_->header(line);
    if (!understood) return reader->where(understood.error().message);
  }
  return reader;
}

Error TraceReader::where(const std::string& message) const {
  const std::uint64_t line = parser_->line() > 0 ? parser_->line() : records_->line();
  return Error{fmt::format("{}:{}: {}", name_, std::max<std::uint64_t>(line, 1), message)};
}

void TraceReader::fail(const std::string& message) {
  error_ = where(message);
  ended_ = true;
}

void TraceReader::bad_record(std::string problem, bool missing) {
  if (!options_.skip_bad) {
    fail(problem +
         " (`muster simulate --skip-bad` passes over such lines, `muster trace check FILE --repair "
         "COPY` writes a copy without them)");
    return;
  }
  ++stats_.bad;
  if (missing) ++stats_.missing;
  if (stats_.bad_examples.size() < options_.examples) {
    stats_.bad_examples.push_back({line(), std::move(problem), missing});
  }
}

// Of a job that was accepted, before its times are moved.
void TraceReader::note_fate() {
  const PastRun& run = parser_->recorded();
  if (run.start < job_.submit || run.end < run.start) return;
  RecordedFate& fate = stats_.fate;
  ++fate.jobs;
  fate.waited_s += run.start - job_.submit;
  fate.completed_s += run.end - job_.submit;
  fate.first_submit = std::min(fate.first_submit, job_.submit);
  fate.last_end = std::max(fate.last_end, run.end);
}

bool TraceReader::accept() {
  if (const std::string_view status = parser_->status(); !status.empty()) {
    if (!options_.statuses.empty() && std::find(options_.statuses.begin(), options_.statuses.end(),
                                                status) == options_.statuses.end()) {
      ++stats_.skipped["its status was not selected"];
      return false;
    }
    const auto known = stats_.statuses.find(status);
    if (known != stats_.statuses.end()) {
      ++known->second;
    } else {
      stats_.statuses.emplace(status, 1);
    }
  }
  if (!plainly_fine(job_)) {
    if (const JobFaults faults = find_faults(job_) & refused_; faults != 0) {
      bad_record(fault_text(job_, faults), false);
      return false;
    }
  }
  note_fate();
  if (!options_.any_order) {
    if (job_.submit < last_submit_) {
      fail(fmt::format(
          "found a job submitted at {} s after one submitted at {} s: the trace is not sorted by "
          "submission, so it cannot be streamed; sort it (`muster trace convert` does) or load "
          "it whole",
          exact_text(job_.submit), exact_text(last_submit_)));
      return false;
    }
    last_submit_ = job_.submit;
    if (!origin_) origin_ = origin_of(options_.rebase, job_.submit);
    move_times(job_, *origin_);
  } else {
    job_.arrival = job_.submit;
  }
  ++stats_.jobs;
  return true;
}

void TraceReader::take_in(Parsed parsed) {
  switch (parsed) {
    case Parsed::kJob:
      loaded_ = accept();
      break;
    case Parsed::kSkipped:
      if (const auto known = stats_.skipped.find(parser_->skip_reason());
          known != stats_.skipped.end()) {
        ++known->second;
      } else {
        stats_.skipped.emplace(parser_->skip_reason(), 1);
      }
      break;
    case Parsed::kBad:
      bad_record(problem_text(parser_->problem()), parser_->problem().missing);
      break;
    case Parsed::kNothing:
    case Parsed::kHeld:
      break;
  }
}

void TraceReader::advance() {
  std::string_view record;
  while (!ended_ && !loaded_) {
    const bool more = !records_ended_ && records_->next(record);
    if (!more) {
      if (const auto& error = records_->error()) {
        parser_->at_line(records_->line());
        fail(error->message);
        break;
      }
      records_ended_ = true;
    } else if (record.empty() || (record.size() < 8 && blank(record))) {
      continue;
    }
    // Default values again, but keep the string's memory.
    std::string name = std::move(job_.name);
    name.clear();
    job_ = JobSpec{};
    job_.name = std::move(name);
    if (more) parser_->at_line(records_->line());
    const Parsed parsed = more ? parser_->parse(record, job_) : parser_->rest(job_);
    if (more && parsed != Parsed::kNothing) ++stats_.records;
    if (!more && parsed == Parsed::kNothing) ended_ = true;
    take_in(parsed);
  }
  if (ended_) stats_.notes = parser_->notes();
}

const JobSpec* TraceReader::peek() {
  if (!loaded_) advance();
  return loaded_ ? &job_ : nullptr;
}

void TraceReader::pop() { loaded_ = false; }

JobSpec TraceReader::take() {
  loaded_ = false;
  return std::move(job_);
}

std::vector<std::string> notes_of(const TraceStats& stats) {
  std::vector<std::string> notes = stats.notes;
  if (stats.bad > 0) {
    notes.push_back(fmt::format("{} bad records of the trace were left out", stats.bad));
  }
  return notes;
}

Result<Trace> load_trace(const std::string& path, const TraceOptions& options, Symbols& symbols) {
  TraceOptions unordered = options;
  unordered.any_order = true;
  auto opened = TraceReader::open(path, unordered, symbols);
  if (!opened) return opened.error();
  TraceReader& reader = **opened;

  Trace trace;
  std::vector<std::pair<Seconds, std::uint32_t>> order;
  // A guess that is right for short lines; too large costs address space, not memory.
  constexpr std::size_t kBytesPerJob = 40;
  constexpr std::size_t kLookEvery = 4096;
  trace.jobs.reserve(reader.size_hint() / kBytesPerJob);
  order.reserve(reader.size_hint() / kBytesPerJob);
  want_large_pages(trace.jobs);
  while (reader.peek() != nullptr) {
    JobSpec& job = trace.jobs.emplace_back(reader.take());
    trace.was_sorted = trace.was_sorted && (order.empty() || order.back().first <= job.submit);
    order.emplace_back(job.submit, static_cast<std::uint32_t>(order.size()));
    if (order.size() % kLookEvery == 0 && options.keep_going && !options.keep_going()) {
      return Error{path + ": reading was stopped"};
    }
  }
  if (const auto error = reader.error()) return *error;
  trace.stats = reader.stats();
  if (trace.jobs.empty()) return Error{no_jobs_text(path, trace.stats)};

  if (!trace.was_sorted) sort_jobs(trace.jobs, order);
  trace.origin = origin_of(options.rebase, trace.jobs.front().submit);
  for (JobSpec& job : trace.jobs) move_times(job, trace.origin);
  if (!options.unchecked && trace.jobs.front().submit < 0) {
    return Error{fmt::format(
        "{}: the first job is submitted at {} s, before time 0; `muster trace convert FILE "
        "COPY --rebase` moves the times",
        path, exact_text(trace.jobs.front().submit))};
  }
  return trace;
}

Result<std::unique_ptr<JobSource>> open_trace(const std::string& path, const TraceOptions& options,
                                              Symbols& symbols) {
  auto opened = TraceReader::open(path, options, symbols);
  if (!opened) return opened.error();
  // The first job shows most mistakes; say them now rather than in the middle of a run.
  if ((*opened)->peek() == nullptr) {
    if (const auto error = (*opened)->error()) return *error;
    return Error{no_jobs_text(path, (*opened)->stats())};
  }
  return std::unique_ptr<JobSource>(std::move(*opened));
}

}  // namespace muster
