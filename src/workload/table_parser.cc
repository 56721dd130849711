#include "workload/table_parser.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "workload/numbers.h"
#include "workload/timestamp.h"

namespace muster {
namespace {

// Takes a quoted cell whose opening quote is at `at`; leaves `at` behind the closing one. False
// when it is never closed.
bool take_quoted(std::string_view line, std::size_t& at, std::string& cell) {
  cell.clear();
  for (++at; at < line.size(); ++at) {
    if (line[at] != '"') {
      cell += line[at];
    } else if (at + 1 < line.size() && line[at + 1] == '"') {
      cell += line[++at];
    } else {
      ++at;
      return true;
    }
  }
  return false;
}

// trim() for cells that hardly ever need it.
std::string_view tidy(std::string_view cell) {
  return cell.empty() || (cell.front() > ' ' && cell.back() > ' ') ? cell : trim(cell);
}

// Calls `take(cell)` for each cell; blanks around a cell count only inside quotes.
template <typename Take>
void each_cell(std::string_view line, char separator, bool quotes, std::string& unquoted,
               Take take) {
  std::size_t at = 0;
  while (true) {
    std::string_view cell;
    const std::size_t begin = at;
    if (quotes && at < line.size() && line[at] == '"' && take_quoted(line, at, unquoted)) {
      // Text between the closing quote and the separator belongs to the cell of a sloppy writer.
      while (at < line.size() && line[at] != separator) unquoted += line[at++];
      cell = unquoted;  // as it is
    } else {
      at = begin;  // again, if it was a quote that is never closed
      while (at < line.size() && line[at] != separator) ++at;
      cell = tidy(line.substr(begin, at - begin));
    }
    take(cell);
    if (at >= line.size()) return;
    ++at;
  }
}

bool store_real(std::string_view cell, double unit, double& value) {
  double parsed = 0;
  if (!read_real(cell, parsed)) return false;
  value = parsed * unit;
  return true;
}

// TIME:VALUE;TIME:VALUE, the times ascending.
bool store_steps(std::string_view cell, double unit, std::vector<ValueStep>& steps) {
  steps.clear();
  for (const std::string_view pair : split(cell, ';')) {
    const std::size_t colon = pair.find(':');
    ValueStep step;
    if (colon == std::string_view::npos || !store_real(pair.substr(0, colon), unit, step.by) ||
        !read_real(pair.substr(colon + 1), step.value)) {
      return false;
    }
    if (!steps.empty() && !(step.by > steps.back().by)) return false;
    steps.push_back(step);
  }
  return true;
}

}  // namespace

bool is_named(std::string_view alternatives, std::string_view name) {
  for (const std::string_view alternative : split(alternatives, '|')) {
    if (alternative == name) return true;
  }
  return false;
}

std::vector<std::string> split_cells(std::string_view line, char separator) {
  std::vector<std::string> cells;
  std::string unquoted;
  each_cell(line, separator, true, unquoted,
            [&](std::string_view cell) { cells.emplace_back(cell); });
  return cells;
}

std::string_view field_expectation(TraceField field) {
  switch (field) {
    case TraceField::kSubmit:
    case TraceField::kDuration:
    case TraceField::kDeadline:
    case TraceField::kEstimate:
      return "a time as a number";
    case TraceField::kSubmitClock:
      return "a time like 2017-10-09 07:01:55";
    case TraceField::kSubmitEither:
      return "a number of seconds, or a time like 2017-10-09 07:01:55";
    case TraceField::kGpus:
    case TraceField::kMinGpus:
    case TraceField::kMaxGpus:
      return "a whole number of GPUs";
    case TraceField::kBatchSize:
    case TraceField::kPriority:
      return "a whole number";
    case TraceField::kCpus:
    case TraceField::kMemory:
    case TraceField::kIterations:
    case TraceField::kNumber:
    case TraceField::kValue:
      return "a number";
    case TraceField::kLater:
      return "TIME:VALUE with ';' between, each later than the one before, as 7200:8;9000:5";
    default:
      return "a text";
  }
}

Status TableParser::header(std::string_view line) {
  targets_.clear();
  const std::vector<std::string> names = split_cells(line, schema_.separator);
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    if (!name.empty() && std::count(names.begin(), names.end(), name) > 1) {
      return Error{fmt::format("the header names the column '{}' twice", name)};
    }
    Target& target = targets_.emplace_back();
    target.name = name;
    for (const TraceColumn& column : schema_.columns) {
      if (!is_named(column.names, name)) continue;
      target = {column.field, column.required, column.unit, column.slot, name, "", kNoSymbol};
      keeps_ = keeps_ || column.field == TraceField::kNumber || column.field == TraceField::kText;
    }
    if (target.field == TraceField::kIgnored) unknown.push_back(name);
  }
  std::vector<std::string_view> absent;
  for (const TraceColumn& column : schema_.columns) {
    const bool present =
        std::any_of(names.begin(), names.end(),
                    [&column](const std::string& name) { return is_named(column.names, name); });
    if (column.required && !present) absent.push_back(column.names);
  }
  if (!absent.empty()) {
    return Error{fmt::format("the header '{}' lacks the column{} {}", line.substr(0, 200),
                             absent.size() > 1 ? "s" : "", fmt::join(absent, ", "))};
  }
  if (schema_.note_unknown && !unknown.empty()) {
    notes_.push_back(
        fmt::format("ignored columns that Muster does not use: {}", fmt::join(unknown, ", ")));
  }
  return Done{};
}

Symbol TableParser::intern(Target& target, std::string_view text) {
  // Neighbouring lines often repeat a text, and comparing is cheaper than hashing.
  if (target.last_text != text || target.last_symbol == kNoSymbol) {
    target.last_text.assign(text);
    target.last_symbol = symbols_.intern(text);
  }
  return target.last_symbol;
}

// Long: one line or two for each field that a column can hold.
bool TableParser::store(Target& target, std::string_view cell, JobSpec& job) {
  switch (target.field) {
    case TraceField::kIgnored:
      return true;
    case TraceField::kName:
      job.name.assign(cell);
      return true;
    case TraceField::kSubmit:
      return store_real(cell, target.unit, job.submit);
    case TraceField::kSubmitClock:
      return read_timestamp(cell, job.submit);
    case TraceField::kSubmitEither:
      return store_real(cell, target.unit, job.submit) || read_timestamp(cell, job.submit);
    case TraceField::kDuration:
      return store_real(cell, target.unit, job.duration);
    case TraceField::kGpus:
      return read_whole_number(cell, job.gpus);
    case TraceField::kMinGpus:
      return read_whole_number(cell, job.min_gpus);
    case TraceField::kMaxGpus:
      return read_whole_number(cell, job.max_gpus);
    case TraceField::kDeadline:
      return store_real(cell, target.unit, job.deadline);
    case TraceField::kValue:
      return store_real(cell, target.unit, job.value);
    case TraceField::kLater:
      return store_steps(cell, target.unit, job.later);
    case TraceField::kEstimate:
      return store_real(cell, target.unit, job.estimate);
    case TraceField::kCpus:
      return store_real(cell, target.unit, job.cpus);
    case TraceField::kMemory:
      return store_real(cell, target.unit, job.memory_gb);
    case TraceField::kIterations:
      return store_real(cell, target.unit, job.iterations);
    case TraceField::kBatchSize:
      return read_whole_number(cell, job.batch_size);
    case TraceField::kPriority:
      return read_whole_number(cell, job.priority);
    case TraceField::kModel:
      job.model = intern(target, cell);
      return true;
    case TraceField::kUser:
      job.user = intern(target, cell);
      return true;
    case TraceField::kPartition:
      job.partition = intern(target, cell);
      return true;
    case TraceField::kGpuType:
      job.gpu_type = intern(target, cell);
      return true;
    case TraceField::kStatus:
      status_.assign(cell);
      return true;
    case TraceField::kNumber:
      return store_real(cell, target.unit, numbers_[target.slot]);
    case TraceField::kText:
      texts_[target.slot].assign(cell);
      return true;
  }
  return false;
}

Parsed TableParser::wrong_count(std::size_t count) {
  return bad(0, "", fmt::format("{} columns", count),
             fmt::format("{}, as in the header", targets_.size()));
}

Parsed TableParser::parse(std::string_view record, JobSpec& job) {
  status_.clear();
  if (keeps_) {
    for (std::string& text : texts_) text.clear();
    std::fill(std::begin(numbers_), std::end(numbers_), std::numeric_limits<double>::quiet_NaN());
  }

  std::size_t count = 0;
  Parsed outcome = Parsed::kJob;
  each_cell(record, schema_.separator, schema_.quotes, unquoted_, [&](std::string_view cell) {
    const std::size_t position = count++;
    if (position >= targets_.size() || outcome != Parsed::kJob) return;
    Target& target = targets_[position];
    if (cell.empty()) {
      if (target.required) {
        outcome =
            missing(static_cast<int>(position) + 1, target.name, field_expectation(target.field));
      }
    } else if (!store(target, cell, job)) {
      outcome =
          bad(static_cast<int>(position) + 1, target.name, cell, field_expectation(target.field));
    }
  });
  // A wrong number of columns is the better explanation of a wrong cell.
  if (count != targets_.size()) return wrong_count(count);
  if (outcome != Parsed::kJob) return outcome;
  return finish(job);
}

Parsed TableParser::bad_cell(TraceField field, std::size_t slot, std::string_view found,
                             std::string_view expected) {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const Target& target = targets_[i];
    if (target.field == field && target.slot == slot) {
      const int column = static_cast<int>(i) + 1;
      return found.empty() ? missing(column, target.name, expected)
                           : bad(column, target.name, found, expected);
    }
  }
  return bad(0, "", found, expected);
}

}  // namespace muster
