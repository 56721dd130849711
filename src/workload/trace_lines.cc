#include "workload/trace_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "workload/formats/native.h"
#include "workload/timestamp.h"

namespace muster {
namespace {

constexpr std::array<std::string_view, kProperties> kPropertyTexts = {
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
};

std::uint32_t bit(JobProperty property) { return 1U << property; }

std::int64_t whole_seconds(Seconds time, std::uint32_t& changed) {
  // Far beyond any clock, and still a number that an integer holds.
  constexpr double kMost = 9e15;
  const double rounded = std::max(-kMost, std::min(std::floor(time + 0.5), kMost));
  if (rounded != time) changed |= bit(kRounded);
  return static_cast<std::int64_t>(rounded);
}

std::string job_name(const JobSpec& job, std::uint64_t position) {
  return job.name.empty() ? std::to_string(position) : job.name;
}

// A cell of a CSV file: quoted where it must be, without line breaks, which no line-wise reader
// survives.
void append_cell(std::string_view text, std::string& line, std::uint32_t& changed) {
  const bool quote = text.find_first_of(",\"\r\n") != std::string_view::npos ||
                     (!text.empty() && (text.front() == ' ' || text.back() == ' '));
  if (!quote) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      changed |= bit(kLineBreak);
      line += ' ';
    } else {
      if (c == '"') line += '"';
      line += c;
    }
  }
  line += '"';
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
  bool carries(std::size_t property) const override { return property != kArrival; }
  void append(const JobSpec& job, std::uint64_t position, std::string& line,
              std::uint32_t& changed) override {
    bool first = true;
    for (const TraceColumn& column : native_columns()) {
      if (!first) line += ',';
      first = false;
      append_field(column.field, job, position, line, changed);
    }
    line += '\n';
  }

 private:
  void append_field(TraceField field, const JobSpec& job, std::uint64_t position, std::string& line,
                    std::uint32_t& changed) const {
    const auto number = [&line](double value) {
      if (value != 0) line += exact_text(value);
    };
    switch (field) {
      case TraceField::kName:
        append_cell(job_name(job, position), line, changed);
        break;
      case TraceField::kSubmit:
        line += exact_text(job.submit);
        break;
      case TraceField::kDuration:
        line += exact_text(job.duration);
        break;
      case TraceField::kGpus:
        line += std::to_string(job.gpus);
        break;
      case TraceField::kMinGpus:
        number(job.min_gpus);
        break;
      case TraceField::kMaxGpus:
        number(job.max_gpus);
        break;
      case TraceField::kDeadline:
        if (job.deadline != kNever) line += exact_text(job.deadline);
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
  bool carries(std::size_t property) const override {
    return property == kDeadline || property == kIterations || property == kBatchSize ||
           property == kPriority || property == kModel;
  }
  void append(const JobSpec& job, std::uint64_t, std::string& line,
              std::uint32_t& changed) override {
    std::string type = job.model == kNoSymbol ? "job" : symbols_.text(job.model);
    if (job.batch_size > 0 && type.find("(batch size ") == std::string::npos) {
      type += fmt::format(" (batch size {})", job.batch_size);
    }
    for (char& c : type) {
      if (c == '\t' || c == '\n' || c == '\r') {
        changed |= bit(kLineBreak);
        c = ' ';
      }
    }
    const double steps = job.iterations > 0 ? job.iterations : job.duration;
    if (steps != job.duration) changed |= bit(kDuration);
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
  bool carries(std::size_t property) const override {
    return property == kName || property == kIterations || property == kModel;
  }
  void append(const JobSpec& job, std::uint64_t position, std::string& line,
              std::uint32_t& changed) override {
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
  bool carries(std::size_t property) const override { return property == kPartition; }
  void append(const JobSpec& job, std::uint64_t, std::string& line,
              std::uint32_t& changed) override {
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
  bool carries(std::size_t property) const override {
    return property == kEstimate || property == kMemory || property == kUser ||
           property == kModel || property == kPartition;
  }
  void append(const JobSpec& job, std::uint64_t position, std::string& line,
              std::uint32_t& changed) override {
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
                                std::uint32_t& changed) {
    if (symbol == kNoSymbol) return -1;
    changed |= bit(kSymbolNames);
    return numbers.emplace(symbol, static_cast<std::int64_t>(numbers.size()) + 1).first->second;
  }

  std::map<Symbol, std::int64_t> users_;
  std::map<Symbol, std::int64_t> models_;
  std::map<Symbol, std::int64_t> partitions_;
};

}  // namespace

std::string_view property_text(std::size_t property) { return kPropertyTexts.at(property); }

bool has_property(const JobSpec& job, std::size_t property) {
  switch (property) {
    case kName:
      return !job.name.empty();
    case kArrival:
      return job.arrival != job.submit;
    case kElasticRange:
      return job.min_gpus != 0 || job.max_gpus != 0;
    case kDeadline:
      return job.deadline != kNever;
    case kEstimate:
      return job.estimate != 0;
    case kCpus:
      return job.cpus != 0;
    case kMemory:
      return job.memory_gb != 0;
    case kIterations:
      return job.iterations != 0;
    case kBatchSize:
      return job.batch_size != 0;
    case kPriority:
      return job.priority != 0;
    case kModel:
      return job.model != kNoSymbol;
    case kUser:
      return job.user != kNoSymbol;
    case kPartition:
      return job.partition != kNoSymbol;
    case kGpuType:
      return job.gpu_type != kNoSymbol;
    default:
      return false;
  }
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
