#include "run/whatif/answer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "report/json.h"
#include "report/table.h"
#include "report/units.h"

namespace muster {
namespace {

// Also where all futures agree, on something else than what is believed.
bool spans(const Expected& value) {
  return value.early != value.believed || value.late != value.believed;
}

// "in 2 h (1 h to 5 h)", "now", "5 min ago", "no predicted end".
std::string moment_text(const Expected& when, Seconds now, std::string_view noun = "end") {
  if (when.believed == kNever) return fmt::format("no predicted {}", noun);
  if (when.believed < now) return fmt::format("{} ago", duration_text(now - when.believed));
  if (when.believed == now && !spans(when)) return "now";
  const auto from_now = [now](Seconds at) {
    return at == kNever ? std::string("never") : duration_text(std::max(0.0, at - now));
  };
  std::string text = "in " + from_now(when.believed);
  if (spans(when)) {
    text += fmt::format(" ({} to {})", from_now(when.early), from_now(when.late));
  }
  return text;
}

std::string span_text(const Expected& value) {
  if (value.believed == kNever) return "no predicted end";
  std::string text = duration_text(value.believed);
  if (spans(value)) {
    text += fmt::format(" ({} to {})", duration_text(value.early), duration_text(value.late));
  }
  return text;
}

std::string why_stuck(const Outlook& outlook) {
  if (outlook.nodes_out == 0) return "no known event frees the GPUs that it waits for";
  return fmt::format(
      "it waits while {} down or drained",
      outlook.nodes_out == 1 ? "a node is" : fmt::format("{} nodes are", outlook.nodes_out));
}

// When the last job ends, or how many have no predicted end, also of those that are not shown. One
// that is refused has none to wait for.
std::string done_text(const Outlook& outlook) {
  const auto refused =
      std::count_if(outlook.jobs.begin(), outlook.jobs.end(),
                    [](const JobOutlook& job) { return job.refused != Reason::kNone; });
  const long open = outlook.unfinished - static_cast<long>(refused);
  const std::string last = moment_text(outlook.last_end, outlook.now);
  if (open <= 0) return outlook.last_end.believed == kNever ? "now" : last;
  std::string text = fmt::format("{} no predicted end",
                                 open == 1 ? "a job has" : fmt::format("{} jobs have", open));
  if (outlook.last_end.believed != kNever) text += fmt::format(", the others are done {}", last);
  return text;
}

// When the job ends, or why it never will.
std::string end_text(const JobOutlook& job, const Outlook& outlook) {
  if (job.refused != Reason::kNone) {
    return fmt::format("refused: {}", reason_sentence(job.refused));
  }
  const std::string text = moment_text(job.end, outlook.now);
  return job.stuck ? text + ": " + why_stuck(outlook) : text;
}

std::string shift_text(const Expected& before, const Expected& after) {
  const double shift = after.believed - before.believed;
  return fmt::format("{} {}", duration_text(std::abs(shift)), shift < 0 ? "earlier" : "later");
}

const JobOutlook* find_job(const Outlook& outlook, JobId id) {
  const auto found =
      std::lower_bound(outlook.jobs.begin(), outlook.jobs.end(), id,
                       [](const JobOutlook& job, JobId wanted) { return job.id < wanted; });
  return found != outlook.jobs.end() && found->id == id ? &*found : nullptr;
}

Result<const JobOutlook*> named(const Outlook& outlook, const std::string& name) {
  for (const JobOutlook& job : outlook.jobs) {
    if (job.name == name || fmt::format("#{}", index(job.id)) == name) return &job;
  }
  return Error{
      fmt::format("job '{}' is not among the {} that run or wait; it may have left, or not have "
                  "come yet",
                  name, outlook.jobs.size())};
}

// Waiting jobs: those that are new as against `before`, then the first to start in front.
std::vector<const JobOutlook*> next_to_start(const Outlook& outlook, const Outlook& before,
                                             std::size_t most) {
  std::vector<const JobOutlook*> jobs;
  for (const JobOutlook& job : outlook.jobs) {
    if (job.state != JobState::kRunning) jobs.push_back(&job);
  }
  const auto rank = [&before](const JobOutlook* job) {
    return std::pair(find_job(before, job->id) != nullptr, job->start.believed);
  };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const JobOutlook* a, const JobOutlook* b) { return rank(a) < rank(b); });
  if (jobs.size() > most) jobs.resize(most);
  return jobs;
}

// The mean of each over those of its jobs that are there now and end in both.
void compare_means(Outlook& as_is, Outlook& changed) {
  const auto set_mean = [](Outlook& outlook, const Outlook& other) {
    std::vector<bool> counted;
    for (const JobOutlook& job : outlook.jobs) {
      const JobOutlook* there = find_job(other, job.id);
      counted.push_back(job.end.believed != kNever && there != nullptr &&
                        there->end.believed != kNever);
    }
    outlook.completion_time = mean_completion(outlook, counted);
  };
  set_mean(as_is, changed);
  set_mean(changed, as_is);
}

// The columns of a job with the change: its start, and its end and by how much that moves.
void add_changed(std::vector<Cell>& cells, const JobOutlook* before, const JobOutlook& job,
                 const Outlook& shown) {
  const auto same = [](const Expected& a, const Expected& b) { return a.believed == b.believed; };
  const bool there = before != nullptr;
  cells.emplace_back(there && same(before->start, job.start)
                         ? std::string("same")
                         : moment_text(job.start, shown.now, "start"));
  if (there && same(before->end, job.end)) {
    cells.emplace_back(std::string("same"));
  } else if (there && before->end.believed != kNever && job.end.believed != kNever) {
    cells.emplace_back(end_text(job, shown) + ", " + shift_text(before->end, job.end));
  } else {
    cells.emplace_back(end_text(job, shown));
  }
}

std::string headline(const Outlook& outlook) {
  const auto running =
      std::count_if(outlook.jobs.begin(), outlook.jobs.end(),
                    [](const JobOutlook& job) { return job.state == JobState::kRunning; });
  return fmt::format("at {}: {} jobs run, {} wait\n", clock_text(outlook.now), running,
                     static_cast<long>(outlook.jobs.size()) - running);
}

void write_expected(JsonWriter& json, std::string_view key, const Expected& value) {
  json.key(key).begin_object();
  json.member("believed", value.believed);
  json.member("early", value.early);
  json.member("late", value.late);
  json.end_object();
}

void write_outlook(JsonWriter& json, std::string_view key, const Outlook& outlook) {
  json.key(key).begin_object();
  write_expected(json, "completion_time_s", outlook.completion_time);
  write_expected(json, "last_end_s", outlook.last_end);
  json.member("unfinished", static_cast<double>(outlook.unfinished));
  json.key("jobs").begin_array();
  for (const JobOutlook& job : outlook.jobs) {
    json.begin_object();
    json.member("job", job.name);
    json.member("number", static_cast<double>(index(job.id)));
    json.member("state", job_state_name(job.state));
    json.member("gpus", static_cast<double>(job.gpus));
    json.member("submit_s", job.submit);
    write_expected(json, "start_s", job.start);
    write_expected(json, "end_s", job.end);
    if (job.refused != Reason::kNone) json.member("refused", reason_name(job.refused));
    if (job.stuck) json.member("stuck", why_stuck(outlook));
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace

Result<Answer> ask(const EngineWorld& world, const OutlookParts& parts, const Change& change,
                   const OutlookOptions& options, Symbols& symbols) {
  Answer answer;
  auto as_is = look_out(world, parts, options);
  if (!as_is) return as_is.error();
  answer.as_is = std::move(*as_is);
  if (change.empty()) return answer;
  EngineWorld other = world;
  OutlookParts with = parts;
  if (Status applied = apply_change(change, symbols, other, with); !applied) {
    return applied.error();
  }
  auto changed = look_out(other, with, options);
  if (!changed) return changed.error();
  answer.changed = std::move(*changed);
  compare_means(answer.as_is, *answer.changed);
  if (!change.drain.empty()) answer.drained = drained_at(other, *answer.changed);
  return answer;
}

Status know_jobs(const Answer& answer, const std::vector<std::string>& jobs) {
  for (const std::string& name : jobs) {
    const auto job = named(answer.changed ? *answer.changed : answer.as_is, name);
    if (!job) return job.error();
  }
  return Done{};
}

Result<std::string> answer_text(const Answer& answer, const std::vector<std::string>& jobs,
                                bool colour) {
  const Outlook& shown = answer.changed ? *answer.changed : answer.as_is;
  std::vector<const JobOutlook*> rows;
  for (const std::string& name : jobs) {
    const auto job = named(shown, name);
    if (!job) return job.error();
    rows.push_back(*job);
  }
  constexpr std::size_t kMostRows = 10;
  if (jobs.empty()) rows = next_to_start(shown, answer.as_is, kMostRows);
  std::vector<Column> columns = {
      {"job", "job"}, {"state", "state"}, {"gpus", "GPUs"}, {"start", "start"}, {"end", "end"}};
  if (answer.changed) {
    columns.push_back({"changed_start", "start, with the change"});
    columns.push_back({"changed_end", "end, with the change"});
  }
  Table table(columns);
  for (const JobOutlook* job : rows) {
    const JobOutlook* as_is = answer.changed ? find_job(answer.as_is, job->id) : job;
    std::vector<Cell> cells = {job->name, std::string(job_state_name(job->state)),
                               static_cast<double>(job->gpus)};
    cells.emplace_back(as_is != nullptr ? moment_text(as_is->start, shown.now, "start")
                                        : "not there");
    cells.emplace_back(as_is != nullptr ? end_text(*as_is, answer.as_is) : "not there");
    if (answer.changed) add_changed(cells, as_is, *job, shown);
    table.add_row(std::move(cells));
  }
  std::string text = headline(answer.as_is);
  const auto figure = [&text](std::string_view what, const std::string& as_is,
                              const std::string& changed) {
    text += fmt::format("  {:<22}{}{}\n", what, as_is,
                        changed.empty() ? "" : "; with the change " + changed);
  };
  const Outlook* changed = answer.changed ? &*answer.changed : nullptr;
  figure("mean completion time", span_text(answer.as_is.completion_time),
         changed != nullptr ? span_text(changed->completion_time) : "");
  figure("all done", done_text(answer.as_is), changed != nullptr ? done_text(*changed) : "");
  if (answer.drained != kNever) {
    text += fmt::format("  drained nodes empty   in {}\n",
                        duration_text(std::max(0.0, answer.drained - shown.now)));
  }
  if (table.rows() == 0) return text;
  return text + "\n" + table.text({colour, false});
}

std::string answer_json(const Answer& answer) {
  JsonWriter json(2);
  json.begin_object();
  json.member("now_s", answer.as_is.now);
  write_outlook(json, "as_is", answer.as_is);
  if (answer.changed) write_outlook(json, "changed", *answer.changed);
  if (answer.drained != kNever) json.member("drained_s", answer.drained);
  json.end_object();
  return json.take();
}

}  // namespace muster
