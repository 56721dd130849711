// The job log of the Philly traces (cluster_job_log): a JSON array of jobs, each with the attempts
// it took.
//
// The plain reading adds up the attempts that ran. The reading of Blox's simulator is there to
// repeat its results; it drops jobs by rules of its own.
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

enum class Reading { kPlain, kBlox, kBloxMultiGpu };

// What counts of one attempt.
struct Attempt {
  Seconds length = 0;
  int gpus = 0;
  bool valid = false;
};

class PhillyJsonParser final : public TraceParser {
 public:
  PhillyJsonParser(Reading reading, Symbols& symbols) : reading_(reading), symbols_(symbols) {}

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
    if (reading_ == Reading::kPlain) return Parsed::kJob;

    constexpr Seconds kShortest = 1897.3665961010276;  // 60 * 10^1.5
    constexpr Seconds kLongest = 600000;
    if (!last.valid) return skip("Blox drops it: its last attempt did not run");
    if (job.duration <= kShortest || job.duration >= kLongest) {
      return skip("Blox drops it: its run time is not between 1897 and 600000 s");
    }
    if (reading_ == Reading::kBlox) job.gpus = 1;
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
    constexpr int kBloxMostGpus = 16;
    attempt.length = end - start;
    attempt.valid = has_start == Parsed::kJob && has_end == Parsed::kJob && attempt.length > 0 &&
                    attempt.gpus > 0 &&
                    (reading_ != Reading::kBloxMultiGpu || attempt.gpus <= kBloxMostGpus);
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

  Reading reading_;
  Symbols& symbols_;
  simdjson::dom::parser parser_;
};

}  // namespace

ParamList philly_json_settings() {
  return {{"reading",
           ParamKind::kText,
           "plain",
           "plain adds up the attempts that ran; blox drops and counts as Blox's simulator does, "
           "with one "
           "GPU per job, and blox-multi-gpu with the GPUs of the last attempt",
           0,
           0,
           {"plain", "blox", "blox-multi-gpu"}}};
}

bool matches_philly_json(std::string_view head) {
  const std::string_view text = trim(head);
  return (text.starts_with("[") || text.starts_with("{")) &&
         text.find("\"attempts\"") != std::string_view::npos;
}

ParserResult make_philly_json(const Params& settings, Symbols& symbols) {
  const std::string& reading = settings.text("reading");
  const Reading kind = reading == "plain"  ? Reading::kPlain
                       : reading == "blox" ? Reading::kBlox
                                           : Reading::kBloxMultiGpu;
  return std::unique_ptr<TraceParser>(std::make_unique<PhillyJsonParser>(kind, symbols));
}

}  // namespace muster
