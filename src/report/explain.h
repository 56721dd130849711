// Why a job waited: its history, reconstructed from the decisions of a run, stretch by stretch.
//
// A block is recorded when the first job that could not be placed, its reason or the number of free
// GPUs changes. A waiting job is that first job itself, or waits behind it; when no job is blocked,
// the jobs before it take all free GPUs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/record.h"
#include "report/result_reader.h"
#include "report/table.h"

namespace muster {

struct StoryLine {
  enum class Kind : std::uint8_t {
    kEvent,        // `action` happened at `from`
    kHeld,         // admission keeps it out of the queue
    kFirstInLine,  // it needs `gpus` GPUs
    kBehind,       // `other` is first in line and needs `gpus` GPUs
    kOutranked,    // no job is blocked: the jobs before it take all free GPUs
    kRuns,         // on `where`
  };
  Kind kind = Kind::kEvent;
  Seconds from = 0;
  Seconds to = 0;
  Action action = Action::kSubmit;
  Reason reason = Reason::kNone;
  JobId other = kNoJob;
  int gpus = 0;
  int least_free = 0;  // GPUs free meanwhile, as far as it was recorded
  int most_free = 0;
  int folded = 1;  // stretches behind so many jobs were drawn together; `other` is none then
  GpuSet where;

  bool waits() const { return kind != Kind::kEvent && kind != Kind::kRuns; }
  Seconds lasts() const { return to - from; }
};

struct StoryTotal {
  StoryLine::Kind kind{};
  Reason reason{};
  Seconds seconds = 0;
};

struct Story {
  JobId id{};
  bool left =
      false;  // otherwise it was still there when the run stopped, and only `id` of `job` is known
  JobRecord job;
  std::string user;
  std::string partition;
  std::string model;
  std::vector<StoryLine> lines;
  std::vector<StoryTotal> waits;  // most seconds first
  Seconds waited = 0;
  Seconds ran = 0;
  std::uint64_t started_meanwhile = 0;   // starts of other jobs while it waited
  std::uint64_t started_later_ones = 0;  // of jobs that arrived after it
  std::map<JobId, std::string> names;    // of all jobs in the story
};

// `job` is a name of the trace, or a job number; "#12" is always the number.
Result<Story> explain_job(const ResultFolder& result, std::string_view job);

// Lines beyond about `most_lines` are drawn together; 0 shows all.
std::string story_text(const Story& story, const TextStyle& style, std::size_t most_lines = 40);
std::string story_json(const Story& story);

// What one line says, without its time.
std::string story_sentence(const Story& story, const StoryLine& line);
// What the job waited for.
std::string total_sentence(const StoryTotal& total);

}  // namespace muster
