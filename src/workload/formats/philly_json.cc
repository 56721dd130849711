// The job log of the Philly traces (cluster_job_log): a JSON array of jobs, each with the attempts
// it took.
//
// A job's duration is that of the attempts that ran, added up. Settings leave out jobs and attempts
// as studies of this log did.
#include <algorithm>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/text.h"
#include "workload/formats/formats.h"
#include "workload/timestamp.h"

namespace muster {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// What is left out.
struct Limits {
  bool last_ran = false;    // jobs whose last attempt did not run
  Seconds longer_than = 0;  // jobs that did not run longer than this
  Seconds shorter_than = kNever;
  long long attempt_gpus = 0;  // attempts on more GPUs; 0: none
};

// What counts of one attempt.
struct Attempt {
  Seconds length = 0;
  int gpus = 0;
  bool valid = false;
};

class PhillyJsonParser final : public TraceParser {
 public:
  PhillyJsonParser(const Limits& limits, Symbols& symbols) : limits_(limits), symbols_(symbols) {}

  Parsed parse(std::string_view record, JobSpec& job) override {
    status_.clear();
    object fields;
    if (const auto code = parser_.parse(record.data(), record.size()).get(fields)) {
      return bad(0, "", record.substr(0, 60),
                 fmt::format("a JSON object ({})", simdjson::error_message(code)));
    }
    std::string_view text;
    if (fields["jobid"].get(text) != simdjson::SUCCESS) return missing(0, "jobid", "a text");
    job.name.assign(text);
    if (fields["submitted_time"].get(text) != simdjson::SUCCESS) {
      return missing(0, "submitted_time", kTime);
    }
    if (!read_timestamp(text, job.submit)) return bad(0, "submitted_time", text, kTime);
    if (fields["vc"].get(text) == simdjson::SUCCESS) job.partition = symbols_.intern(text);
    if (fields["user"].get(text) == simdjson::SUCCESS) job.user = symbols_.intern(text);
    if (fields["status"].get(text) == simdjson::SUCCESS) status_.assign(text);
    array attempts;
    if (fields["attempts"].get(attempts) != simdjson::SUCCESS) {
      return missing(0, "attempts", "an array of attempts");
    }
    return add_up(attempts, job);
  }

 private:
  static constexpr std::string_view kTime = "a time like 2017-10-09 07:01:55";

  Parsed add_up(const array& attempts, JobSpec& job) {
    Attempt last;
    int last_valid_gpus = 0;
    job.duration = 0;
    for (const element entry : attempts) {
      if (!read_attempt(entry, last)) return Parsed::kBad;
      if (!last.valid) continue;
      job.duration += last.length;
      last_valid_gpus = last.gpus;
    }
    if (last_valid_gpus == 0) return skip("none of its attempts ran on GPUs");
    job.gpus = last_valid_gpus;
    if (limits_.last_ran && !last.valid) return skip("its last attempt did not run");
    if (job.duration <= limits_.longer_than || job.duration >= limits_.shorter_than) {
      return skip("its run time is outside of longer_than and shorter_than");
    }
    return Parsed::kJob;
  }

  // False when the attempt is malformed; one that did not run is merely not valid.
  bool read_attempt(const element& entry, Attempt& attempt) {
    attempt = {};
    object fields;
    if (entry.get(fields) != simdjson::SUCCESS) {
      bad(0, "attempts", "something else", "an object per attempt");
      return false;
    }
    Seconds start = 0;
    Seconds end = 0;
    const auto has_start = read_time(fields, "start_time", start);
    const auto has_end = read_time(fields, "end_time", end);
    if (has_start == Parsed::kBad || has_end == Parsed::kBad) return false;
    array machines;
    if (fields["detail"].get(machines) == simdjson::SUCCESS) {
      std::size_t gpus = 0;
      for (const element machine : machines) {
        array held;
        if (machine["gpus"].get(held) == simdjson::SUCCESS) gpus += held.size();
      }
      attempt.gpus = static_cast<int>(std::min<std::size_t>(gpus, 1U << 30));
    }
    attempt.length = end - start;
    attempt.valid = has_start == Parsed::kJob && has_end == Parsed::kJob && attempt.length > 0 &&
                    attempt.gpus > 0 &&
                    (limits_.attempt_gpus == 0 || attempt.gpus <= limits_.attempt_gpus);
    return true;
  }

  // kSkipped: the attempt has no such time.
  Parsed read_time(const object& fields, std::string_view name, Seconds& value) {
    element found;
    if (fields[name].get(found) != simdjson::SUCCESS || found.is_null()) return Parsed::kSkipped;
    std::string_view text;
    if (found.get(text) != simdjson::SUCCESS) return bad(0, name, simdjson::minify(found), kTime);
    if (text.empty() || text.find("None") != std::string_view::npos) return Parsed::kSkipped;
    // The log appends the zone's name to some times.
    constexpr std::size_t kPlain = 19;
    if (!read_timestamp(text.substr(0, kPlain), value)) return bad(0, name, text, kTime);
    return Parsed::kJob;
  }

  Limits limits_;
  Symbols& symbols_;
  simdjson::dom::parser parser_;
};

}  // namespace

ParamList philly_json_settings() {
  return {
      {"last_ran", ParamKind::kFlag, "false", "leave out jobs whose last attempt did not run"},
      {"longer_than", ParamKind::kReal, "0",
       "leave out jobs that ran for no more than this many seconds", 0},
      {"shorter_than", ParamKind::kReal, "inf",
       "leave out jobs that ran for this many seconds or more", 0},
      {"attempt_gpus", ParamKind::kInteger, "0",
       "attempts on more GPUs than this count as not run; 0: no limit", 0, 1e9},
  };
}

bool matches_philly_json(std::string_view head) {
  const std::string_view text = trim(head);
  return (text.starts_with("[") || text.starts_with("{")) &&
         text.find("\"attempts\"") != std::string_view::npos;
}

ParserResult make_philly_json(const Params& settings, Symbols& symbols) {
  const Limits limits{settings.flag("last_ran"), settings.real("longer_than"),
                      settings.real("shorter_than"), settings.integer("attempt_gpus")};
  return std::unique_ptr<TraceParser>(std::make_unique<PhillyJsonParser>(limits, symbols));
}

}  // namespace muster
