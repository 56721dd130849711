// Chronus: Philly jobs with deadlines. All times are minutes. A job has a list of completion times,
// counted from its submission, and what meeting each is worth; the first is worth most.
#include <algorithm>
#include <array>
#include <vector>

#include "workload/formats/formats.h"
#include "workload/numbers.h"
#include "workload/table_parser.h"

namespace muster {
namespace {

constexpr double kMinute = 60;
constexpr std::size_t kExpected = 0;
constexpr std::size_t kValues = 1;
constexpr std::size_t kChronusBestEffort = 0;

constexpr std::array<TraceColumn, 10> kChronusColumns = {{
    {"job_id", TraceField::kName, "any text", true},
    {"user", TraceField::kUser, "its owner; in the released files the virtual cluster"},
    {"num_gpu", TraceField::kGpus, "GPUs; jobs with 0 are skipped", true},
    {"submit_time", TraceField::kSubmit, "minutes", true, kMinute},
    {"iterations", TraceField::kIterations, "training steps"},
    {"model_name", TraceField::kModel, "model"},
    {"duration", TraceField::kDuration, "minutes", true, kMinute},
    {"expect_time_list", TraceField::kText,
     "minutes after submission, '-' between; the first is the deadline", true, 1, kExpected},
    {"expect_value_list", TraceField::kText,
     "what meeting each of these times is worth, '-' between", false, 1, kValues},
    {"best_effort", TraceField::kNumber, "1: a job without deadline", false, 1, kChronusBestEffort},
}};

// Numbers with '-' between; false if one of them is none.
bool read_list(std::string_view list, std::vector<double>& numbers) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find('-', begin), list.size());
    double number = 0;
    if (!read_real(list.substr(begin, end - begin), number)) return false;
    numbers.push_back(number);
    begin = end + 1;
  }
  return true;
}

class ChronusParser final : public TableParser {
 public:
  explicit ChronusParser(Symbols& symbols) : TableParser(TableSchema{kChronusColumns}, symbols) {}

 protected:
  Parsed finish(JobSpec& job) override {
    if (job.gpus == 0) return skip("it uses no GPUs");
    if (has(kChronusBestEffort) && number(kChronusBestEffort) != 0) return Parsed::kJob;
    std::vector<double> minutes;
    if (!read_list(text(kExpected), minutes)) {
      return bad_cell(TraceField::kText, kExpected, text(kExpected),
                      "minutes with '-' between, as 159-189-229");
    }
    job.deadline = job.submit + minutes[0] * kMinute;
    if (text(kValues).empty()) return Parsed::kJob;
    std::vector<double> values;
    if (!read_list(text(kValues), values) || values.size() != minutes.size()) {
      return bad_cell(TraceField::kText, kValues, text(kValues),
                      "as many values with '-' between as there are times, as 10-8-5");
    }
    job.value = values[0];
    for (std::size_t i = 1; i < values.size(); ++i) {
      job.later.push_back({job.submit + minutes[i] * kMinute, values[i]});
    }
    return Parsed::kJob;
  }
};

}  // namespace

bool matches_chronus(std::string_view head) {
  return header_names(head, ',',
                      {"job_id", "num_gpu", "submit_time", "duration", "expect_time_list"});
}

ParserResult make_chronus(const Params&, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(std::make_unique<ChronusParser>(symbols));
}

}  // namespace muster
