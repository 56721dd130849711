// The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, ';' before
// comments, -1 for what is unknown. Its processors are read as GPUs.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "workload/formats/formats.h"
#include "workload/numbers.h"

namespace muster {
namespace {

constexpr std::size_t kFields = 18;
constexpr std::array<std::string_view, kFields> kNames = {
    "job number",      "submit time",      "wait time",   "run time",
    "processors used", "CPU time used",    "memory used", "processors requested",
    "time requested",  "memory requested", "status",      "user",
    "group",           "executable",       "queue",       "partition",
    "preceding job",   "think time"};

enum SwfField : std::size_t {
  kJobNumber = 0,
  kSubmit = 1,
  kRunTime = 3,
  kUsed = 4,
  kProcessorsRequested = 7,
  kTimeRequested = 8,
  kMemoryRequested = 9,
  kStatus = 10,
  kUser = 11,
  kExecutable = 13,
  kPartition = 15,
};

std::string_view status_name(double status) {
  switch (static_cast<int>(status)) {
    case 0:
      return "failed";
    case 1:
      return "completed";
    case 2:
    case 3:
    case 4:
      return "partial";
    case 5:
      return "cancelled";
    default:
      return "";
  }
}

// Takes the next word; empty at the end.
std::string_view next_word(std::string_view& line) {
  constexpr std::string_view kBlank = " \t";
  const std::size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin);
  const std::size_t end = std::min(line.find_first_of(kBlank), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

class SwfParser final : public TraceParser {
 public:
  SwfParser(double processors_per_gpu, Symbols& symbols)
      : processors_per_gpu_(processors_per_gpu), symbols_(symbols) {}

  Parsed parse(std::string_view record, JobSpec& job) override {
    record = trim(record);
    if (record.empty() || record.front() == ';') return Parsed::kNothing;
    std::array<double, kFields> values{};
    std::string_view rest = record;
    for (std::size_t i = 0; i < kFields; ++i) {
      const std::string_view word = next_word(rest);
      if (word.empty()) return bad(0, "", fmt::format("{} fields", i), "18 fields");
      if (i == kJobNumber) job.name.assign(word);
      if (!read_real(word, values.at(i))) {
        return bad(static_cast<int>(i) + 1, kNames.at(i), word, "a number");
      }
    }
    if (!next_word(rest).empty()) return bad(0, "", "more than 18 fields", "18 fields");
    return fill(values, job);
  }

 private:
  Parsed fill(const std::array<double, kFields>& values, JobSpec& job) {
    status_ = status_name(std::max(-1.0, std::min(values[kStatus], 9.0)));
    if (values[kRunTime] < 0) return skip("its run time is unknown");
    if (values[kRunTime] == 0 && status_ == "cancelled")
      return skip("it was cancelled before it ran");
    const double processors =
        values[kProcessorsRequested] > 0 ? values[kProcessorsRequested] : values[kUsed];
    if (!(processors > 0)) return skip("its number of processors is unknown");
    const double gpus = std::ceil(processors / processors_per_gpu_);
    if (!(gpus <= 2147483647.0)) {
      return bad(kProcessorsRequested + 1, kNames[kProcessorsRequested], exact_text(processors),
                 "fewer processors");
    }
    job.gpus = static_cast<int>(gpus);
    job.submit = values[kSubmit];
    job.duration = values[kRunTime];
    if (values[kTimeRequested] > 0) job.estimate = values[kTimeRequested];
    constexpr double kKibPerGib = 1024.0 * 1024.0;
    if (values[kMemoryRequested] > 0) {
      job.memory_gb = values[kMemoryRequested] * processors / kKibPerGib;
    }
    job.user = number_symbol("user", values[kUser]);
    job.model = number_symbol("app", values[kExecutable]);
    job.partition = number_symbol("partition", values[kPartition]);
    return Parsed::kJob;
  }

  Symbol number_symbol(std::string_view kind, double number) {
    if (!(number >= 0)) return kNoSymbol;
    return symbols_.intern(fmt::format("{}{}", kind, exact_text(number)));
  }

  double processors_per_gpu_;
  Symbols& symbols_;
};

}  // namespace

ParamList swf_settings() {
  return {{"processors_per_gpu",
           ParamKind::kReal,
           "1",
           "processors that make one GPU; a part counts as a whole",
           1e-3,
           1e6,
           {}}};
}

bool matches_swf(std::string_view head) {
  const std::string_view first = first_line(head);
  if (first.starts_with(";")) return true;
  std::string_view rest = first;
  double ignored = 0;
  for (std::size_t i = 0; i < kFields; ++i) {
    if (!read_real(next_word(rest), ignored)) return false;
  }
  return next_word(rest).empty();
}

ParserResult make_swf(const Params& settings, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(
      std::make_unique<SwfParser>(settings.real("processors_per_gpu"), symbols));
}

}  // namespace muster
