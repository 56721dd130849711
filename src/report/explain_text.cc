#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "report/explain.h"
#include "report/json.h"
#include "report/table.h"
#include "report/units.h"

namespace muster {
namespace {

using Kind = StoryLine::Kind;

std::string name_of(const Story& story, JobId job) {
  const auto found = story.names.find(job);
  return found == story.names.end() ? fmt::format("#{}", index(job)) : found->second;
}

std::string gpus_text(int gpus) {
  return gpus == 1 ? "1 GPU" : fmt::format("{} GPUs", count_text(gpus));
}

std::string free_text(const StoryLine& line) {
  if (line.least_free == line.most_free)
    return line.most_free == 1 ? "1 is free" : fmt::format("{} are free", line.most_free);
  return fmt::format("{} to {} are free", line.least_free, line.most_free);
}

// " on nodes 0, 2-5"
std::string where_text(const GpuSet& where) {
  if (where.empty()) return "";
  std::set<std::size_t> nodes;
  for (int i = 0; i < where.nodes(); ++i) nodes.insert(index(where[i].node));
  std::string text = nodes.size() == 1 ? " on node " : " on nodes ";
  bool first = true;
  for (auto node = nodes.begin(); node != nodes.end();) {
    auto last = node;
    for (auto next = std::next(last); next != nodes.end() && *next == *last + 1; ++next)
      last = next;
    text += fmt::format("{}{}", first ? "" : ", ", *node);
    if (last != node) text += fmt::format("-{}", *last);
    first = false;
    node = std::next(last);
  }
  return text;
}

std::string event_text(const Story& story, const StoryLine& line) {
  const std::string because = fmt::format(": {}", reason_sentence(line.reason));
  const std::string by =
      line.other == kNoJob ? "" : fmt::format(" to job {}", name_of(story, line.other));
  switch (line.action) {
    case Action::kSubmit:
      return fmt::format("submitted, asking for {}", gpus_text(line.gpus));
    case Action::kAdmit:
      return "admitted to the queue";
    case Action::kHold:
      return "held by admission" + because;
    case Action::kRefuse:
      return "refused" + because;
    case Action::kStart:
      return fmt::format("starts with {}{}{}", gpus_text(line.gpus), where_text(line.where),
                         because);
    case Action::kStop:
      return fmt::format("loses its GPUs{}{}", by, because);
    case Action::kResize:
      return fmt::format("is given {}{}{}", gpus_text(line.gpus), where_text(line.where), because);
    case Action::kMove:
      return fmt::format("moves to {}{}{}", gpus_text(line.gpus), where_text(line.where), because);
    case Action::kFinish:
      return "finished" + because;
    case Action::kFail:
      return "given up" + because;
    case Action::kCancel:
      return "cancelled" + because;
    case Action::kRevise:
      return fmt::format("asks for {} now{}", gpus_text(line.gpus), because);
    default:
      return fmt::format("{}{}", action_name(line.action), because);
  }
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kEvent:
      return "event";
    case Kind::kHeld:
      return "held";
    case Kind::kFirstInLine:
      return "first-in-line";
    case Kind::kBehind:
      return "behind";
    case Kind::kOutranked:
      return "outranked";
    case Kind::kRuns:
      return "runs";
  }
  return "";
}

// The lines as people want them: a start and the run after it are one, and so are a hold and its
// wait; that a job was admitted in the moment of its submission goes without saying.
std::vector<StoryLine> told(const std::vector<StoryLine>& lines) {
  std::vector<StoryLine> result;
  for (const StoryLine& line : lines) {
    StoryLine* last = result.empty() ? nullptr : &result.back();
    const bool after_event = last != nullptr && last->kind == Kind::kEvent && last->to == line.from;
    if (after_event && (line.kind == Kind::kRuns || line.kind == Kind::kHeld)) {
      last->to = line.to;
    } else if (!(after_event && line.action == Action::kAdmit && last->action == Action::kSubmit)) {
      result.push_back(line);
    }
  }
  return result;
}

// Draws neighbouring short waits together, until few enough lines are left. The longest stay.
std::vector<StoryLine> fold(const std::vector<StoryLine>& lines, std::size_t most) {
  if (most == 0 || lines.size() <= most) return lines;
  std::vector<Seconds> lengths;
  std::size_t fixed = 0;
  for (const StoryLine& line : lines) {
    if (line.kind == Kind::kBehind || line.kind == Kind::kOutranked) {
      lengths.push_back(line.lasts());
    } else {
      ++fixed;
    }
  }
  // Between two kept waits there may be one line for those drawn together.
  const std::size_t keep = std::max<std::size_t>(4, most > fixed ? (most - fixed) / 2 : 0);
  if (lengths.size() <= keep) return lines;
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(keep),
                   lengths.end(), std::greater<>());
  const Seconds shortest = lengths[keep];
  std::vector<StoryLine> folded;
  for (const StoryLine& line : lines) {
    const bool small =
        (line.kind == Kind::kBehind || line.kind == Kind::kOutranked) && line.lasts() <= shortest;
    StoryLine* last = folded.empty() ? nullptr : &folded.back();
    const bool joins = small && last != nullptr && last->waits() && last->to == line.from &&
                       (last->folded > 1 || last->lasts() <= shortest) &&
                       last->kind == Kind::kBehind;
    if (!joins) {
      folded.push_back(line);
      if (small) folded.back().kind = Kind::kBehind;
      continue;
    }
    last->to = line.to;
    last->folded += 1;
    last->other = kNoJob;
    last->reason = Reason::kNone;
  }
  return folded;
}

std::string opening(const Story& story) {
  const std::string title = story.job.name.empty()
                                ? fmt::format("Job #{}", index(story.id))
                                : fmt::format("Job {} (#{})", story.job.name, index(story.id));
  if (!story.left) {
    return fmt::format("{} had not finished when the run stopped: {} waiting, {} running so far.",
                       title, duration_text(story.waited), duration_text(story.ran));
  }
  std::string text = fmt::format("{} asked for {} and ", title, gpus_text(story.job.gpus));
  const std::string after = duration_text(story.job.end - story.job.submit);
  switch (story.job.status) {
    case JobState::kFinished:
      text += fmt::format("finished {} after it was submitted: {} waiting, {} running.", after,
                          duration_text(story.waited), duration_text(story.ran));
      break;
    case JobState::kRefused:
      text += fmt::format("was refused: {}.", reason_sentence(story.job.reason));
      break;
    case JobState::kCancelled:
      text += fmt::format("was cancelled after {}: {} waiting, {} running.", after,
                          duration_text(story.waited), duration_text(story.ran));
      break;
    default:
      text += fmt::format("was given up after {}: {}.", after, reason_sentence(story.job.reason));
  }
  std::string facts;
  const auto fact = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) facts += fmt::format("{}{} {}", facts.empty() ? "" : ", ", label, value);
  };
  fact("user", story.user);
  fact("partition", story.partition);
  fact("model", story.model);
  return facts.empty() ? text : fmt::format("{}\n{}", text, facts);
}

}  // namespace

std::string total_sentence(const StoryTotal& total) {
  switch (total.kind) {
    case Kind::kHeld:
      return fmt::format("held by admission: {}", reason_sentence(total.reason));
    case Kind::kFirstInLine:
      return fmt::format("first in line: {}", reason_sentence(total.reason));
    case Kind::kBehind:
      return fmt::format("behind the first in line, which could not start: {}",
                         reason_sentence(total.reason));
    default:
      return "the jobs before it took all free GPUs";
  }
}

std::string story_sentence(const Story& story, const StoryLine& line) {
  switch (line.kind) {
    case Kind::kEvent:
      return event_text(story, line);
    case Kind::kHeld:
      return fmt::format("held by admission: {}", reason_sentence(line.reason));
    case Kind::kFirstInLine:
      return fmt::format("first in line: needs {} while {}{}", gpus_text(line.gpus),
                         free_text(line),
                         line.reason == Reason::kNotEnoughFree
                             ? ""
                             : fmt::format(" ({})", reason_sentence(line.reason)));
    case Kind::kBehind:
      if (line.folded > 1) return fmt::format("waits behind {} jobs in turn", line.folded);
      if (line.other == kNoJob) return "waits: the jobs before it take all free GPUs";
      return fmt::format("waits behind job {}, which needs {} while {}{}",
                         name_of(story, line.other), gpus_text(line.gpus), free_text(line),
                         line.reason == Reason::kNotEnoughFree
                             ? ""
                             : fmt::format(" ({})", reason_sentence(line.reason)));
    case Kind::kOutranked:
      return "waits: the jobs before it take all free GPUs";
    case Kind::kRuns:
      return fmt::format("runs with {}{}", gpus_text(line.gpus), where_text(line.where));
  }
  return "";
}

std::string story_text(const Story& story, const TextStyle& style, std::size_t most_lines) {
  std::string out = opening(story) + "\n\n";
  Table life({{"at", "at"}, {"for", "for"}, {"what", "what happened"}});
  for (const StoryLine& line : fold(told(story.lines), most_lines)) {
    life.add_row({clock_text(line.from),
                  line.lasts() > 0 ? Cell{duration_text(line.lasts())} : Cell{},
                  story_sentence(story, line)});
  }
  out += life.text(style);
  if (story.waited > 0) {
    Table why({{"why", "why it waited"}, {"for", "for"}, {"share", "share", Unit::kRatio}});
    for (const StoryTotal& total : story.waits) {
      why.add_row(
          {total_sentence(total), duration_text(total.seconds), total.seconds / story.waited});
    }
    out += "\n" + why.text(style);
    if (story.started_meanwhile > 0) {
      out += fmt::format(
          "\nWhile it waited, other jobs were started {} times; {} of those jobs had arrived "
          "later.\n",
          count_text(static_cast<double>(story.started_meanwhile)),
          count_text(static_cast<double>(story.started_later_ones)));
    }
  }
  return out;
}

std::string story_json(const Story& story) {
  const auto number = [](auto value) { return static_cast<double>(value); };
  JsonWriter json(1);
  json.begin_object().key("job").begin_object();
  json.member("id", number(index(story.id))).member("name", std::string_view(story.job.name));
  json.member("left", story.left);
  if (story.left) {
    json.member("status", job_state_name(story.job.status))
        .member("reason", reason_name(story.job.reason));
    json.member("submit_s", story.job.submit)
        .member("start_s", story.job.start)
        .member("end_s", story.job.end);
    json.member("gpus", number(story.job.gpus))
        .member("preemptions", number(story.job.preemptions));
    json.member("restarts", number(story.job.restarts));
    json.member("user", std::string_view(story.user))
        .member("partition", std::string_view(story.partition));
    json.member("model", std::string_view(story.model));
  }
  json.end_object().member("waited_s", story.waited).member("ran_s", story.ran);
  json.member("started_meanwhile", number(story.started_meanwhile));
  json.member("started_meanwhile_later_arrivals", number(story.started_later_ones));
  json.key("waits").begin_array();
  for (const StoryTotal& total : story.waits) {
    json.begin_object()
        .member("kind", kind_name(total.kind))
        .member("reason", reason_name(total.reason));
    json.member("seconds", total.seconds).end_object();
  }
  json.end_array().key("story").begin_array();
  for (const StoryLine& line : story.lines) {
    json.begin_object()
        .member("kind", kind_name(line.kind))
        .member("from_s", line.from)
        .member("to_s", line.to);
    if (line.kind == Kind::kEvent) json.member("action", action_name(line.action));
    json.member("reason", reason_name(line.reason)).member("gpus", number(line.gpus));
    if (line.other != kNoJob) json.member("other", number(index(line.other)));
    if (line.kind == Kind::kFirstInLine || line.kind == Kind::kBehind) {
      json.member("least_free", number(line.least_free))
          .member("most_free", number(line.most_free));
    }
    if (!line.where.empty()) {
      json.key("nodes").begin_array();
      for (int i = 0; i < line.where.nodes(); ++i) json.value(number(index(line.where[i].node)));
      json.end_array();
    }
    json.member("sentence", std::string_view(story_sentence(story, line))).end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

}  // namespace muster
