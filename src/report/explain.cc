#include "report/explain.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

using Kind = StoryLine::Kind;

// Follows one job through the log.
class Teller {
 public:
  explicit Teller(JobId job, Story& story) : id_(job), story_(story) {}

  bool over() const { return phase_ == Phase::kGone; }

  void hear(const Decision& decision, const GpuSet& where) {
    now_ = decision.time;
    if (decision.action == Action::kBlock) {
      hear_block(decision);
    } else if (decision.job == id_) {
      hear_own(decision, where);
    } else if (decision.action == Action::kStart) {
      if (phase_ == Phase::kQueued || phase_ == Phase::kHeld) {
        ++story_.started_meanwhile;
        if (decision.job > id_) ++story_.started_later_ones;
      }
      if (decision.job == block_.job) forget_block();
    } else if (decision.job == block_.job &&
               (decision.action == Action::kRefuse || decision.action == Action::kFail)) {
      forget_block();
    }
  }

  void finish() {
    close();
    std::map<std::pair<Kind, Reason>, Seconds> totals;
    for (const StoryLine& line : story_.lines) {
      if (line.kind == Kind::kRuns) story_.ran += line.lasts();
      if (!line.waits()) continue;
      story_.waited += line.lasts();
      totals[{line.kind, line.reason}] += line.lasts();
    }
    for (const auto& [what, seconds] : totals)
      story_.waits.push_back({what.first, what.second, seconds});
    std::stable_sort(
        story_.waits.begin(), story_.waits.end(),
        [](const StoryTotal& a, const StoryTotal& b) { return a.seconds > b.seconds; });
  }

 private:
  enum class Phase { kUnknown, kHeld, kQueued, kRunning, kGone };

  struct Block {
    JobId job = kNoJob;
    Reason reason = Reason::kNone;
    int needed = 0;
    int free = 0;
  };

  void hear_block(const Decision& decision) {
    const bool same = decision.job == block_.job && decision.reason == block_.reason;
    block_ = {decision.job, decision.reason, decision.gpus, decision.detail};
    if (phase_ != Phase::kQueued) return;
    if (same && open_) {
      current_.least_free = std::min(current_.least_free, block_.free);
      current_.most_free = std::max(current_.most_free, block_.free);
    } else {
      wait();
    }
  }

  void forget_block() {
    block_ = {};
    if (phase_ == Phase::kQueued) wait();
  }

  void hear_own(const Decision& decision, const GpuSet& where) {
    if (decision.job == block_.job && decision.action != Action::kSubmit) block_ = {};
    const bool again = decision.action == Action::kHold && phase_ == Phase::kHeld &&
                       decision.reason == current_.reason;
    if (again) return;
    close();
    StoryLine event;
    event.from = event.to = now_;
    event.action = decision.action;
    event.reason = decision.reason;
    event.other = decision.other;
    event.gpus = decision.gpus;
    event.where = where;
    story_.lines.push_back(event);
    switch (decision.action) {
      case Action::kHold:
        phase_ = Phase::kHeld;
        open(Kind::kHeld, decision.reason);
        break;
      case Action::kSubmit:
      case Action::kAdmit:
      case Action::kStop:
        phase_ = Phase::kQueued;
        wait();
        break;
      case Action::kStart:
      case Action::kResize:
      case Action::kMove:
        phase_ = Phase::kRunning;
        open(Kind::kRuns, Reason::kNone);
        current_.gpus = decision.gpus;
        current_.where = where;
        break;
      case Action::kRefuse:
      case Action::kFinish:
      case Action::kFail:
        phase_ = Phase::kGone;
        break;
      default:
        break;
    }
  }

  // A stretch of waiting, under the block as it is now.
  void wait() {
    close();
    if (block_.job == kNoJob) {
      open(Kind::kOutranked, Reason::kOutranked);
      return;
    }
    open(block_.job == id_ ? Kind::kFirstInLine : Kind::kBehind, block_.reason);
    if (block_.job != id_) current_.other = block_.job;
    current_.gpus = block_.needed;
    current_.least_free = current_.most_free = block_.free;
  }

  void open(Kind kind, Reason reason) {
    current_ = {};
    current_.kind = kind;
    current_.reason = reason;
    current_.from = now_;
    open_ = true;
  }

  void close() {
    if (!open_) return;
    open_ = false;
    current_.to = now_;
    if (current_.lasts() <= 0) return;
    // The same wait, interrupted for no time at all.
    StoryLine* last = story_.lines.empty() ? nullptr : &story_.lines.back();
    if (last != nullptr && last->kind == current_.kind && current_.waits() &&
        last->reason == current_.reason && last->other == current_.other &&
        last->to == current_.from) {
      last->to = current_.to;
      last->least_free = std::min(last->least_free, current_.least_free);
      last->most_free = std::max(last->most_free, current_.most_free);
      return;
    }
    story_.lines.push_back(current_);
  }

  JobId id_;
  Story& story_;
  Seconds now_ = 0;
  Phase phase_ = Phase::kUnknown;
  Block block_;
  StoryLine current_;
  bool open_ = false;
};

// Finds the job by name, else by number. The record stays empty for a job that never left.
Status find_job(const ResultFolder& result, std::string_view wanted, Story& story) {
  const bool number_only = !wanted.empty() && wanted.front() == '#';
  const auto number = parse_integer(number_only ? wanted.substr(1) : wanted);
  const auto most = static_cast<std::int64_t>(kNoJob);
  const bool numbered = number && *number >= 0 && *number < most;
  bool named = false;
  Symbols symbols;
  std::set<std::string> similar;
  const Status read = result.for_each_job(symbols, [&](const JobRecord& job) {
    named = !number_only && !job.name.empty() && job.name == wanted;
    const bool matches = named || (numbered && static_cast<std::int64_t>(job.id) == *number);
    if (matches) {
      story.left = true;
      story.job = job;
      story.id = job.id;
      story.user = symbols.text(job.user);
      story.partition = symbols.text(job.partition);
      story.model = symbols.text(job.model);
    }
    // A job that never waited has nothing to explain.
    if (similar.size() < 5 && job.queue > 0 && !wanted.empty() &&
        job.name.find(wanted) != std::string::npos) {
      similar.insert(job.name);
    }
    return !named;
  });
  if (!read) return read;
  if (story.left) return Done{};
  if (numbered) {
    story.id = JobId{static_cast<std::uint32_t>(*number)};
    return Done{};
  }
  std::string message = fmt::format("{} has no job '{}'", result.path(), wanted);
  if (!similar.empty()) {
    message += "; names like it:";
    for (const std::string& name : similar) message += " " + name;
  } else {
    message +=
        fmt::format("; `muster explain {}` lists those that waited longest, its jobs.csv lists all",
                    result.path());
  }
  return Error{message};
}

Status name_others(const ResultFolder& result, Story& story) {
  std::set<JobId> wanted = {story.id};
  for (const StoryLine& line : story.lines) {
    if (line.other != kNoJob) wanted.insert(line.other);
  }
  Symbols symbols;
  return result.for_each_job(symbols, [&](const JobRecord& job) {
    if (wanted.erase(job.id) > 0 && !job.name.empty()) story.names[job.id] = job.name;
    return !wanted.empty();
  });
}

}  // namespace

Result<Story> explain_job(const ResultFolder& result, std::string_view job) {
  Story story;
  if (Status found = find_job(result, job, story); !found) return found.error();
  auto reader = result.decisions();
  if (!reader) return reader.error();
  Teller teller(story.id, story);
  while (!teller.over()) {
    const Decision* decision = reader->next();
    if (decision == nullptr) break;
    teller.hear(*decision, reader->placement());
  }
  if (!teller.over()) {
    if (Status read = reader->status(); !read) return read.error();
  }
  teller.finish();
  if (story.lines.empty()) {
    return Error{fmt::format("{} has no job with the number {}", result.path(), index(story.id))};
  }
  if (Status named = name_others(result, story); !named) return named.error();
  return story;
}

}  // namespace muster
