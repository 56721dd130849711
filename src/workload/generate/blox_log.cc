#include "workload/generate/blox_log.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/text.h"

namespace muster {
namespace {

namespace json = simdjson::ondemand;

constexpr int kMostGpus = 16;

// Days since 1970-01-01 of a day in the Gregorian calendar (Hinnant's algorithm).
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

// Seconds since 1970 of "YYYY-MM-DD HH:MM:SS".
std::optional<std::int64_t> parse_time(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00 00:00:00";
  if (text.size() != kShape.size()) return std::nullopt;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == '0' ? !digit : text[i] != kShape[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t from, std::size_t size) {
    return *parse_integer(text.substr(from, size));
  };
  const std::int64_t month = number(5, 2);
  const std::int64_t day = number(8, 2);
  if (month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
  if (number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 59) return std::nullopt;
  return days_of(number(0, 4), month, day) * 86400 + number(11, 2) * 3600 + number(14, 2) * 60 +
         number(17, 2);
}

struct Attempt {
  bool counts = false;
  int gpus = 0;
  std::int64_t seconds = 0;
};

// Reads one log; remembers where it is, so that a failure can say so.
class LogReader {
 public:
  LogReader(std::string_view file, bool multi_gpu) : file_(file), multi_gpu_(multi_gpu) {}

  Result<std::vector<BloxLogJob>> read(const simdjson::padded_string& text) {
    json::parser parser;
    json::document document;
    std::vector<BloxLogJob> accepted;
    // The library may throw or return codes; codes it is, checked where they appear.
    if (const auto code = parser.iterate(text).get(document)) return broken(code);
    json::array jobs;
    if (const auto code = document.get_array().get(jobs)) {
      return wrong("a JSON list of jobs", simdjson::error_message(code));
    }
    for (auto item : jobs) {
      json::object job;
      if (const auto code = item.get_object().get(job)) return broken(code);
      Result<std::optional<BloxLogJob>> answer = read_job(job);
      if (!answer) return answer.error();
      if (*answer) accepted.push_back(**answer);
      ++job_;
    }
    if (document.current_location().error() == simdjson::SUCCESS) {
      return wrong("the end of the file after the list", "more text");
    }
    return accepted;
  }

 private:
  Result<std::optional<BloxLogJob>> read_job(json::object& job) {
    json::array attempts;
    if (job.find_field_unordered("attempts").get_array().get(attempts)) {
      return wrong("a list 'attempts'", "none");
    }
    std::int64_t seconds = 0;
    Attempt last;
    attempt_ = 0;
    for (auto item : attempts) {
      json::object fields;
      if (const auto code = item.get_object().get(fields)) return broken(code);
      const Result<Attempt> attempt = read_attempt(fields);
      if (!attempt) return attempt.error();
      if (attempt->counts) seconds += attempt->seconds;
      last = *attempt;
      ++attempt_;
    }
    const auto total = static_cast<Seconds>(seconds);
    if (!last.counts || total <= std::pow(10, 1.5) * 60 || total >= std::pow(10, 4) * 60) {
      return std::optional<BloxLogJob>();
    }
    return std::optional<BloxLogJob>({multi_gpu_ ? last.gpus : 1, total});
  }

  Result<Attempt> read_attempt(json::object& fields) {
    const Result<std::optional<std::int64_t>> start = read_time(fields, "start_time");
    if (!start) return start.error();
    const Result<std::optional<std::int64_t>> end = read_time(fields, "end_time");
    if (!end) return end.error();
    const Result<int> gpus = count_gpus(fields);
    if (!gpus) return gpus.error();
    Attempt attempt;
    if (!*start || !*end) return attempt;
    attempt.gpus = *gpus;
    attempt.seconds = **end - **start;
    attempt.counts =
        attempt.seconds > 0 && attempt.gpus > 0 && (!multi_gpu_ || attempt.gpus <= kMostGpus);
    return attempt;
  }

  // Nothing where the log says None (as text or as null).
  Result<std::optional<std::int64_t>> read_time(json::object& fields, std::string_view name) {
    auto field = fields.find_field_unordered(name);
    if (field.error() != simdjson::SUCCESS) return wrong(fmt::format("a time '{}'", name), "none");
    json::value value;
    if (const auto code = field.get(value)) return broken(code);
    json::json_type type{};
    if (const auto code = value.type().get(type)) return broken(code);
    if (type == json::json_type::null) return std::optional<std::int64_t>();
    std::string_view text;
    if (value.get_string().get(text)) return wrong(fmt::format("a time '{}'", name), "no text");
    if (text.find("None") != std::string_view::npos) return std::optional<std::int64_t>();
    const std::optional<std::int64_t> time = parse_time(text);
    if (!time)
      return wrong(fmt::format("'{}' like 2017-10-03 17:05:12", name), fmt::format("'{}'", text));
    return time;
  }

  Result<int> count_gpus(json::object& fields) {
    json::array machines;
    if (fields.find_field_unordered("detail").get_array().get(machines)) {
      return wrong("a list 'detail' of machines", "none");
    }
    std::size_t gpus = 0;
    for (auto machine : machines) {
      json::array list;
      std::size_t count = 0;
      if (machine.find_field_unordered("gpus").get_array().get(list) ||
          list.count_elements().get(count)) {
        return wrong("a list 'gpus' in every machine", "none");
      }
      gpus += count;
    }
    return static_cast<int>(std::min<std::size_t>(gpus, 1 << 20));
  }

  Error wrong(std::string_view expected, std::string_view found) const {
    return Error{fmt::format("{}: job {}, attempt {} (counted from 0): expected {}, found {}",
                             file_, job_, attempt_, expected, found)};
  }
  Error broken(simdjson::error_code code) const {
    return Error{
        fmt::format("{}: job {} (counted from 0): not the JSON of a Philly cluster_job_log: {}",
                    file_, job_, simdjson::error_message(code))};
  }

  std::string file_;
  bool multi_gpu_;
  std::size_t job_ = 0;
  std::size_t attempt_ = 0;
};

}  // namespace

Result<std::vector<BloxLogJob>> parse_blox_log(std::string_view text, std::string_view file,
                                               bool multi_gpu) {
  return LogReader(file, multi_gpu).read(simdjson::padded_string(text));
}

Result<std::vector<BloxLogJob>> read_blox_log(const std::string& file, bool multi_gpu) {
  simdjson::padded_string text;
  if (const auto code = simdjson::padded_string::load(file).get(text)) {
    return Error{fmt::format("{}: cannot be read: {}", file, simdjson::error_message(code))};
  }
  return LogReader(file, multi_gpu).read(text);
}

}  // namespace muster
