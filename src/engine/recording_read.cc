// Reading recordings line by line, with errors that name the line.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "engine/recording.h"
#include "engine/recording_words.h"

namespace muster {
namespace {

std::optional<std::string> unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || code != std::errc{} || end != digits.data() + 2) return std::nullopt;
    result += static_cast<char>(byte);
    i += 2;
  }
  return result;
}

// Reads one line: takes its words one after the other and remembers the first complaint.
class Line {
 public:
  Line(std::string_view text, std::size_t number) : words_(split(text, ' ')), number_(number) {}

  bool more() const { return next_ < words_.size(); }
  std::string_view word(std::string_view expected) {
    if (more()) return words_[next_++];
    complain("the end of the line", expected);
    return {};
  }
  double real(std::string_view expected) {
    const std::string_view found = word(expected);
    const auto value = parse_real(found);
    if (!value || std::isnan(*value)) complain(found, expected);
    return value.value_or(0);
  }
  int integer(std::string_view expected, std::int64_t least = -1) {
    const std::string_view found = word(expected);
    const auto value = parse_integer(found);
    const bool good = value && *value >= least && *value <= std::numeric_limits<int>::max();
    if (!good) complain(found, expected);
    return good ? static_cast<int>(*value) : 0;
  }
  enum class Absent { kAllowed, kRefused };
  template <typename Id>
  Id id(Id none, std::string_view expected, Absent absent = Absent::kAllowed) {
    const std::string_view found = word(expected);
    if (found == "-" && absent == Absent::kAllowed) return none;
    const auto value = parse_integer(found);
    const bool good = value && *value >= 0 && *value < static_cast<std::int64_t>(index(none));
    if (!good) complain(found, expected);
    return good ? Id{static_cast<std::uint32_t>(*value)} : none;
  }
  template <std::size_t N>
  std::size_t one_of(const std::array<std::string_view, N>& names, std::string_view expected) {
    const std::string_view found = word(expected);
    for (std::size_t i = 0; i < N; ++i) {
      if (names[i] == found) return i;
    }
    complain(found, expected);
    return 0;
  }
  GpuSet gpus();
  void offer(Recording::Offer& offer, Symbols& symbols);

  void complain(std::string_view found, std::string_view expected) {
    if (error_) return;
    error_ = Error{
        fmt::format("recording, line {}: found '{}', but expected {}", number_, found, expected)};
  }
  // Nothing may be left over.
  void end() {
    if (more()) complain(words_[next_], "the end of the line");
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::vector<std::string_view> words_;
  std::size_t number_;
  std::size_t next_ = 0;
  std::optional<Error> error_;
};

GpuSet Line::gpus() {
  constexpr std::string_view kExpected = "GPUs as node:mask,node:mask, or -";
  GpuSet set;
  const std::string_view found = word(kExpected);
  if (found == "-") return set;
  for (const std::string_view part : split(found, ',')) {
    const std::size_t colon = part.find(':');
    const auto node = parse_integer(part.substr(0, colon));
    std::uint64_t mask = 0;
    const std::string_view digits =
        colon == std::string_view::npos ? std::string_view() : part.substr(colon + 1);
    const auto [end, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), mask, 16);
    const bool good = node && *node >= 0 && *node < static_cast<std::int64_t>(index(kNoNode)) &&
                      code == std::errc{} && end == digits.data() + digits.size() && mask != 0;
    if (!good) {
      complain(found, kExpected);
      return set;
    }
    set.add(NodeId{static_cast<std::uint32_t>(*node)}, mask);
  }
  return set;
}

bool store(double& field, std::string_view text, Symbols&) {
  const auto value = parse_real(text);
  if (!value || std::isnan(*value)) return false;
  field = *value;
  return true;
}
bool store(StageTimes& field, std::string_view text, Symbols& symbols) {
  const auto parts = split(text, '/');
  if (parts.size() != field.size()) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!store(field[i], parts[i], symbols)) return false;
  }
  return true;
}
bool store(std::vector<ValueStep>& field, std::string_view text, Symbols& symbols) {
  for (const std::string_view part : split(text, '/')) {
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos) return false;
    ValueStep& step = field.emplace_back();
    if (!store(step.by, part.substr(0, colon), symbols) ||
        !store(step.value, part.substr(colon + 1), symbols)) {
      return false;
    }
  }
  return true;
}
bool store(int& field, std::string_view text, Symbols&) {
  const auto value = parse_integer(text);
  if (!value || *value < std::numeric_limits<int>::min() ||
      *value > std::numeric_limits<int>::max()) {
    return false;
  }
  field = static_cast<int>(*value);
  return true;
}
bool store(bool& field, std::string_view text, Symbols&) {
  field = text == "yes";
  return field || text == "no";
}
bool store(JobId& field, std::string_view text, Symbols&) {
  const auto value = parse_integer(text);
  if (!value || *value < 0 || *value >= static_cast<std::int64_t>(index(kNoJob))) return false;
  field = JobId{static_cast<std::uint32_t>(*value)};
  return true;
}
bool store(Symbol& field, std::string_view text, Symbols& symbols) {
  const auto value = unescaped(text);
  if (value) field = symbols.intern(*value);
  return value.has_value();
}
bool store(std::string& field, std::string_view text, Symbols&) {
  const auto value = unescaped(text);
  if (value) field = *value;
  return value.has_value();
}

void Line::offer(Recording::Offer& offer, Symbols& symbols) {
  while (more()) {
    const std::string_view found = word("a field of the job");
    const std::size_t equals = std::min(found.find('='), found.size());
    const std::string_view name = found.substr(0, equals);
    const std::string_view text = found.substr(std::min(equals + 1, found.size()));
    bool known = equals < found.size() && (name == "number" || name == "last");
    bool good = known && (name == "number" ? store(offer.job.id, text, symbols)
                                           : store(offer.last, text, symbols));
    for (const RecordedField& field : recorded_job_fields()) {
      if (field.name != name || equals == found.size()) continue;
      known = true;
      const auto read = [&](auto& value) { good = store(value, text, symbols); };
      std::visit([&](auto member) { change_recorded(offer.job, member, read); }, field.member);
    }
    if (!known) complain(found, "a field of the job, as in gpus=4");
    if (known && !good) complain(found, "a legal value of that field");
  }
}

// What few events have, as name=value.
void read_rest(Line& line, JobEvent& event, Symbols& symbols) {
  const std::string_view found = line.word("a field of the event");
  const std::size_t equals = std::min(found.find('='), found.size());
  const std::string_view name = found.substr(0, equals);
  const std::string_view text = found.substr(std::min(equals + 1, found.size()));
  const auto number = parse_real(text);
  const bool finite = number && !std::isnan(*number);
  if (name == "launch" && finite && *number >= 1 && *number <= 0xffffffffU) {
    event.launch = static_cast<std::uint32_t>(*number);
  } else if (name == "saved" && finite) {
    event.saved = *number;
  } else if (name == "value" && finite) {
    event.value = *number;
  } else if (name == "metric" && store(event.metric, text, symbols)) {
  } else if (const auto at = std::find(kRevisionNames.begin(), kRevisionNames.end(), text);
             name == "of" && at != kRevisionNames.end()) {
    event.revision = static_cast<Revision>(at - kRevisionNames.begin());
  } else {
    line.complain(found, "launch, saved, value, metric or of, as in launch=2");
  }
}

JobEvent read_event(Line& line, Symbols& symbols) {
  JobEvent event;
  event.time = line.real("the time of the event in seconds");
  event.kind = static_cast<EventKind>(line.one_of(kEventNames, "the kind of the event"));
  event.slot = line.id(kNoSlot, "a slot, or -");
  event.job = line.id(kNoJob, "the number of a job, or -");
  event.node = line.id(kNoNode, "the number of a node, or -");
  event.gpu = line.integer("the number of a GPU, or -1");
  event.work = line.real("work done in seconds");
  event.rate = line.real("work per second");
  while (line.more()) read_rest(line, event, symbols);
  return event;
}

Recording::Act read_act(Line& line, std::size_t kind) {
  constexpr std::array<std::string_view, 2> kHow = {"abrupt", "graceful"};
  Recording::Act act;
  act.kind = static_cast<CommandKind>(kind);
  act.at = line.real("the time of the command in seconds");
  act.slot = line.id(kNoSlot, "a slot", Line::Absent::kRefused);
  act.job = line.id(kNoJob, "the number of a job", Line::Absent::kRefused);
  act.gpus = line.gpus();
  act.graceful = line.one_of(kHow, "graceful or abrupt") == 1;
  act.progress.work = line.real("work done in seconds");
  act.progress.rate = line.real("work per second");
  act.progress.since = line.real("the time from which it counts");
  act.progress.saved_work = line.real("work saved in seconds");
  act.progress.added_work = line.real("work added in seconds");
  return act;
}

// Of an entry to which events belong; else null.
std::vector<JobEvent>* events_of(Recording::Entry& entry) {
  if (auto* wait = std::get_if<Recording::Wait>(&entry)) return &wait->events;
  if (auto* news = std::get_if<Recording::News>(&entry)) return &news->events;
  return nullptr;
}

// What the backend and the source of the recording said of themselves.
void read_kind(Line& line, Recording& recording) {
  constexpr std::array<std::string_view, 2> kForesight = {"foreseen", "external"};
  constexpr std::array<std::string_view, 2> kMore = {"later", "numbered"};
  recording.has_external_events = line.one_of(kForesight, "external or foreseen") == 1;
  while (line.more()) {
    bool& said = line.one_of(kMore, "later, numbered, or the end of the line") == 0
                     ? recording.answers_later
                     : recording.numbers_jobs;
    said = true;
  }
}

// Appends the entry that the line holds; the first word has been taken.
void read_entry(std::string_view first, Line& line, Recording& recording, Symbols& symbols) {
  constexpr std::array<std::string_view, 2> kStops = {"time", "event"};
  std::vector<Recording::Entry>& entries = recording.entries;
  if (first == "job") {
    Recording::Offer offer;
    offer.refusals = line.integer("how often there was no job", 0);
    line.offer(offer, symbols);
    entries.emplace_back(std::move(offer));
  } else if (first == "closed") {
    entries.emplace_back(Recording::Close{line.integer("how often more jobs were promised", 0)});
  } else if (first == "wait") {
    Recording::Wait wait;
    wait.until = line.real("the time waited for in seconds");
    wait.stop_at_event = line.one_of(kStops, "time or event") == 1;
    wait.reached = line.real("the time reached in seconds");
    entries.emplace_back(std::move(wait));
  } else if (first == "apply" || first == "turn") {
    entries.emplace_back(Recording::News{line.real("a time in seconds"), first == "turn", {}});
  } else if (first == "event") {
    const JobEvent event = read_event(line, symbols);
    std::vector<JobEvent>* const events = entries.empty() ? nullptr : events_of(entries.back());
    if (events == nullptr) {
      line.complain(first, "events only after the wait that they ended, or apply or turn");
    } else {
      events->push_back(event);
    }
  } else if (first == "outlook") {
    entries.emplace_back(Recording::Outlook{line.real("a time in seconds, or inf")});
  } else if (first == "end") {
    recording.complete = true;
  } else {
    for (std::size_t kind = 0; kind < kCommandNames.size(); ++kind) {
      if (kCommandNames[kind] != first) continue;
      entries.emplace_back(read_act(line, kind));
      return line.end();
    }
    line.complain(first, "job, closed, wait, apply, turn, event, outlook, a command, or end");
  }
  line.end();
}

}  // namespace

Result<Recording> read_recording(std::string_view text, Symbols& symbols) {
  Recording recording;
  bool header = false;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t size = text.find('\n');
    if (size == std::string_view::npos) break;  // cut off in the middle of a line
    Line line(text.substr(0, size), number);
    const bool blank = size == 0 || text.front() == '#';
    text.remove_prefix(size + 1);
    if (blank) continue;
    const std::string_view first = line.word("an entry");
    if (recording.complete) {
      line.complain(first, "nothing after the end");
    } else if (!header) {
      header = true;
      if (first != "muster-recording") line.complain(first, "'muster-recording' and a version");
      const int version = line.integer("a version");
      if (!line.error() && version != kRecordingVersion) {
        line.complain(fmt::format("version {}", version),
                      fmt::format("version {}, which this program writes", kRecordingVersion));
      }
      read_kind(line, recording);
    } else {
      read_entry(first, line, recording, symbols);
    }
    if (line.error()) return *line.error();
  }
  if (!header) return Error{"recording: it is empty, not even a header was written"};
  return recording;
}

}  // namespace muster
