#include "workload/trace_lines.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "workload/formats/native.h"
#include "workload/timestamp.h"

namespace muster {
namespace {

namespace has = job_property;

constexpr std::array<std::string_view, has::kCount> kPropertyTexts = {
    "the job's own name",
    "an arrival other than the submission",
    "the smallest and largest GPU count",
    "the deadline",
    "the estimated duration",
    "CPU cores",
    "memory",
    "iterations",
    "the batch size",
    "the priority",
    "the model",
    "the user",
    "the partition",
    "the GPU type",
    "fractions of seconds (times were rounded)",
    "the duration (the steps were written)",
    "line breaks in texts (blanks were written)",
    "the names of users, models and partitions (numbers were written)",
    "what meeting or missing the deadline is worth",
};

std::int64_t whole_seconds(Seconds time, JobProperties& changed) {
  // Far beyond any clock, and still a number that an integer holds.
  constexpr double kMost = 9e15;
  const double rounded = std::max(-kMost, std::min(std::floor(time + 0.5), kMost));
  if (rounded != time) changed |= has::kRounded;
  return static_cast<std::int64_t>(rounded);
}

std::string job_name(const JobSpec& job, std::uint64_t position) {
  return job.name.empty() ? std::to_string(position) : job.name;
}

// exact_text() without the detour over a string of its own: traces have millions of numbers.
void append_number(double value, std::string& line) {
  constexpr double kExactWhole = 1e15;
  std::array<char, 40> text;
  const double truncated = std::trunc(value);
  const auto end =
      truncated == value && std::abs(value) < kExactWhole
          ? std::to_chars(text.data(), text.data() + text.size(), static_cast<std::int64_t>(value))
          : std::to_chars(text.data(), text.data() + text.size(), value);
  line.append(text.data(), end.ptr);
}

// A cell of a CSV file: quoted where it must be, without line breaks, which no line-wise reader
// survives.
void append_cell(std::string_view text, std::string& line, JobProperties& changed) {
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  const bool quote = text.find_first_of(",\"\r\n") != std::string_view::npos ||
                     (!text.empty() && (blank(text.front()) || blank(text.back())));
  if (!quote) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      changed |= has::kLineBreak;
      line += ' ';
    } else {
      if (c == '"') line += '"';
      line += c;
    }
  }
  line += '"';
}

void append_steps(const std::vector<ValueStep>& steps, std::string& line) {
  for (const ValueStep& step : steps) {
    if (&step != &steps.front()) line += ';';
    append_number(step.by, line);
    line += ':';
    append_number(step.value, line);
  }
}

class NativeLines final : public LineFormat {
 public:
  explicit NativeLines(const Symbols& symbols) : symbols_(symbols) {
    for (const TraceColumn& column : native_columns()) {
      header_ += header_.empty() ? "" : ",";
      header_ += column.names;
    }
    header_ += '\n';
  }
  std::string_view header() const override { return header_; }
  JobProperties carried() const override { return ~has::kArrival; }
  void append(const JobSpec& job, std::uint64_t position, std::string& line,
              JobProperties& changed) override {
    bool first = true;
    for (const TraceColumn& column : native_columns()) {
      if (!first) line += ',';
      first = false;
      append_field(column.field, job, position, line, changed);
    }
    line += '\n';
  }

 private:
  // Long: one case for each field that the format has.
  void append_field(TraceField field, const JobSpec& job, std::uint64_t position, std::string& line,
                    JobProperties& changed) const {
    const auto number = [&line](double value) {
      if (value != 0) append_number(value, line);
    };
    switch (field) {
      case TraceField::kName:
        if (job.name.empty()) {
          append_number(static_cast<double>(position), line);
        } else {
          append_cell(job.name, line, changed);
        }
        break;
      case TraceField::kSubmit:
        append_number(job.submit, line);
        break;
      case TraceField::kDuration:
        append_number(job.duration, line);
        break;
      case TraceField::kGpus:
        append_number(job.gpus, line);
        break;
      case TraceField::kMinGpus:
        number(job.min_gpus);
        break;
      case TraceField::kMaxGpus:
        number(job.max_gpus);
        break;
      case TraceField::kDeadline:
        if (job.deadline != kNever) append_number(job.deadline, line);
        break;
      case TraceField::kValue:
        if (job.value != 1) append_number(job.value, line);
        break;
      case TraceField::kLater:
        append_steps(job.later, line);
        break;
      case TraceField::kEstimate:
        number(job.estimate);
        break;
      case TraceField::kCpus:
        number(job.cpus);
        break;
      case TraceField::kMemory:
        number(job.memory_gb);
        break;
      case TraceField::kIterations:
        number(job.iterations);
        break;
      case TraceField::kBatchSize:
        number(job.batch_size);
        break;
      case TraceField::kPriority:
        number(job.priority);
        break;
      case TraceField::kModel:
        append_cell(symbols_.text(job.model), line, changed);
        break;
      case TraceField::kUser:
        append_cell(symbols_.text(job.user), line, changed);
        break;
      case TraceField::kPartition:
        append_cell(symbols_.text(job.partition), line, changed);
        break;
      case TraceField::kGpuType:
        append_cell(symbols_.text(job.gpu_type), line, changed);
        break;
      default:
        break;
    }
  }

  const Symbols& symbols_;
  std::string header_;
};

class GavelLines final : public LineFormat {
 public:
  explicit GavelLines(const Symbols& symbols) : symbols_(symbols) {}
  std::string_view header() const override { return ""; }
  JobProperties carried() const override {
    return has::kDeadline | has::kIterations | has::kBatchSize | has::kPriority | has::kModel;
  }
  void append(const JobSpec& job, std::uint64_t, std::string& line,
              JobProperties& changed) override {
    std::string type = job.model == kNoSymbol ? "job" : symbols_.text(job.model);
    if (job.batch_size > 0 && type.find("(batch size ") == std::string::npos) {
      type += fmt::format(" (batch size {})", job.batch_size);
    }
    for (char& c : type) {
      if (c == '\t' || c == '\n' || c == '\r') {
        changed |= has::kLineBreak;
        c = ' ';
      }
    }
    const double steps = job.iterations > 0 ? job.iterations : job.duration;
    if (steps != job.duration) changed |= has::kDuration;
    const double factor = job.deadline == kNever || job.duration <= 0
                              ? -1
                              : (job.deadline - job.submit) / job.duration;
    // Commands and folders are of no use to a simulator, but the columns must be there.
    fmt::format_to(std::back_inserter(line), "{}\ttrue\t.\t--num_steps\t0\t{}\t{}\t{}\t{}\t{}\n",
                   type, exact_text(steps), job.gpus, job.priority == 0 ? 1 : job.priority,
                   exact_text(factor), exact_text(job.submit));
  }

 private:
  const Symbols& symbols_;
};

class TiresiasLines final : public LineFormat {
 public:
  explicit TiresiasLines(const Symbols& symbols) : symbols_(symbols) {}
  std::string_view header() const override {
    return "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n";
  }
  JobProperties carried() const override { return has::kName | has::kIterations | has::kModel; }
  void append(const JobSpec& job, std::uint64_t position, std::string& line,
              JobProperties& changed) override {
    const std::int64_t submit = whole_seconds(job.submit, changed);
    append_cell(job_name(job, position), line, changed);
    fmt::format_to(std::back_inserter(line), ",{},{},{},", job.gpus, submit,
                   whole_seconds(job.iterations, changed));
    append_cell(job.model == kNoSymbol ? "unknown" : symbols_.text(job.model), line, changed);
    fmt::format_to(std::back_inserter(line), ",{},{}\n", whole_seconds(job.duration, changed),
                   position == 0 ? 0 : submit - last_submit_);
    last_submit_ = submit;
  }

 private:
  const Symbols& symbols_;
  std::int64_t last_submit_ = 0;
};

class PhillyLines final : public LineFormat {
 public:
  explicit PhillyLines(const Symbols& symbols) : symbols_(symbols) {}
  std::string_view header() const override {
    return "timestamp,duration,num_gpus,gpu_time,cluster\n";
  }
  JobProperties carried() const override { return has::kPartition; }
  void append(const JobSpec& job, std::uint64_t, std::string& line,
              JobProperties& changed) override {
    // Traces that begin at 0 are given the date on which Philly's begins, more or less.
    constexpr Seconds kOrigin = 1504224000;  // 2017-09-01 00:00:00
    constexpr Seconds kWallClock = 1e9;
    const auto submit = static_cast<Seconds>(whole_seconds(job.submit, changed));
    fmt::format_to(std::back_inserter(line), "{},{},{},{},",
                   timestamp_text(submit >= kWallClock ? submit : submit + kOrigin),
                   exact_text(job.duration), job.gpus, exact_text(job.duration * job.gpus));
    append_cell(symbols_.text(job.partition), line, changed);
    line += '\n';
  }

 private:
  const Symbols& symbols_;
};

class SwfLines final : public LineFormat {
 public:
  std::string_view header() const override {
    return "; Version: 2.2\n; Note: written by Muster; a processor is a GPU\n";
  }
  JobProperties carried() const override {
    return has::kEstimate | has::kMemory | has::kUser | has::kModel | has::kPartition;
  }
  void append(const JobSpec& job, std::uint64_t position, std::string& line,
              JobProperties& changed) override {
    const std::int64_t user = number_of(users_, job.user, changed);
    const std::int64_t executable = number_of(models_, job.model, changed);
    const std::int64_t partition = number_of(partitions_, job.partition, changed);
    constexpr double kKibPerGib = 1024.0 * 1024.0;
    const double memory =
        job.memory_gb > 0 ? std::floor(job.memory_gb * kKibPerGib / job.gpus + 0.5) : -1;
    fmt::format_to(std::back_inserter(line),
                   "{} {} -1 {} {} -1 -1 {} {} {} 1 {} -1 {} -1 {} -1 -1\n", position + 1,
                   whole_seconds(job.submit, changed), whole_seconds(job.duration, changed),
                   job.gpus, job.gpus, job.estimate > 0 ? whole_seconds(job.estimate, changed) : -1,
                   exact_text(memory), user, executable, partition);
  }

 private:
  static std::int64_t number_of(std::map<Symbol, std::int64_t>& numbers, Symbol symbol,
                                JobProperties& changed) {
    if (symbol == kNoSymbol) return -1;
    changed |= has::kSymbolNames;
    return numbers.emplace(symbol, static_cast<std::int64_t>(numbers.size()) + 1).first->second;
  }

  std::map<Symbol, std::int64_t> users_;
  std::map<Symbol, std::int64_t> models_;
  std::map<Symbol, std::int64_t> partitions_;
};

}  // namespace

std::string_view property_text(std::size_t bit) { return kPropertyTexts.at(bit); }

JobProperties properties_of(const JobSpec& job) {
  JobProperties found = 0;
  const auto mark = [&found](bool present, JobProperties property) {
    if (present) found |= property;
  };
  mark(!job.name.empty(), has::kName);
  mark(job.arrival != job.submit, has::kArrival);
  mark(job.min_gpus != 0 || job.max_gpus != 0, has::kElasticRange);
  mark(job.deadline != kNever, has::kDeadline);
  mark(job.value != 1 || !job.later.empty(), has::kValue);
  mark(job.estimate != 0, has::kEstimate);
  mark(job.cpus != 0, has::kCpus);
  mark(job.memory_gb != 0, has::kMemory);
  mark(job.iterations != 0, has::kIterations);
  mark(job.batch_size != 0, has::kBatchSize);
  mark(job.priority != 0, has::kPriority);
  mark(job.model != kNoSymbol, has::kModel);
  mark(job.user != kNoSymbol, has::kUser);
  mark(job.partition != kNoSymbol, has::kPartition);
  mark(job.gpu_type != kNoSymbol, has::kGpuType);
  return found;
}

std::unique_ptr<LineFormat> make_lines(std::string_view format, const Symbols& symbols) {
  if (format == "muster") return std::make_unique<NativeLines>(symbols);
  if (format == "gavel") return std::make_unique<GavelLines>(symbols);
  if (format == "tiresias") return std::make_unique<TiresiasLines>(symbols);
  if (format == "philly-csv") return std::make_unique<PhillyLines>(symbols);
  if (format == "swf") return std::make_unique<SwfLines>();
  return nullptr;
}

}  // namespace muster
