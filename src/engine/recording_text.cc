#include "engine/recording_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "engine/recording_words.h"

namespace muster {

const std::vector<RecordedField>& recorded_job_fields() {
  static const std::vector<RecordedField> kFields = {
      {"arrival", &JobSpec::arrival},
      {"submit", &JobSpec::submit},
      {"duration", &JobSpec::duration},
      {"gpus", &JobSpec::gpus},
      {"min_gpus", &JobSpec::min_gpus},
      {"max_gpus", &JobSpec::max_gpus},
      {"deadline", &JobSpec::deadline},
      {"value", &JobSpec::value},
      {"later", &JobSpec::later},
      {"estimate", &JobSpec::estimate},
      {"cpus", &JobSpec::cpus},
      {"memory_gb", &JobSpec::memory_gb},
      {"iterations", &JobSpec::iterations},
      {"step_ms", &JobSpec::step_ms},
      {"stage_ms", &JobSpec::stage_ms},
      {"batch_size", &JobSpec::batch_size},
      {"priority", &JobSpec::priority},
      {"model", &JobSpec::model},
      {"user", &JobSpec::user},
      {"partition", &JobSpec::partition},
      {"gpu_type", &JobSpec::gpu_type},
      {"name", &JobSpec::name},
      {"believed", &JobSpec::believed},
      {"true_duration", &TrueLength::duration},
      {"true_iterations", &TrueLength::iterations},
      {"true_work", &TrueLength::work},
  };
  return kFields;
}

namespace {

// Blanks, control characters and the percent sign as %XX.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == '%' || byte == 0x7f) {
      result += fmt::format("%{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result;
}

template <typename Id>
std::string id_text(Id id, Id none) {
  return id == none ? "-" : fmt::format("{}", index(id));
}

std::string gpus_text(const GpuSet& gpus) {
  if (gpus.empty()) return "-";
  std::string text;
  for (int i = 0; i < gpus.nodes(); ++i) {
    text += fmt::format("{}{}:{:x}", i == 0 ? "" : ",", index(gpus[i].node), gpus[i].mask);
  }
  return text;
}

struct Writer {
  const Symbols& symbols;
  std::string text;

  void operator()(const Recording::Offer& offer) {
    static const JobSpec kDefault;
    text = fmt::format("job {}", offer.refusals);
    if (offer.job.id != kDefault.id) text += fmt::format(" number={}", index(offer.job.id));
    add("last", offer.last, false);
    for (const RecordedField& field : recorded_job_fields()) {
      std::visit(
          [&](auto member) {
            add(field.name, recorded_value(offer.job, member), recorded_value(kDefault, member));
          },
          field.member);
    }
    text += '\n';
  }
  void operator()(const Recording::Close& close) {
    text = fmt::format("closed {}\n", close.refusals);
  }
  void operator()(const Recording::Wait& wait) {
    text = fmt::format("wait {} {} {}\n", exact_text(wait.until),
                       wait.stop_at_event ? "event" : "time", exact_text(wait.reached));
    add(wait.events);
  }
  void operator()(const Recording::News& news) {
    text = fmt::format("{} {}\n", news.turns ? "turn" : "apply", exact_text(news.at));
    add(news.events);
  }
  void operator()(const Recording::Outlook& outlook) {
    text = fmt::format("outlook {}\n", exact_text(outlook.time));
  }
  void operator()(const Recording::Act& act) {
    text = fmt::format("{} {} {} {} {} {} {} {} {} {} {}\n",
                       kCommandNames.at(static_cast<std::size_t>(act.kind)), exact_text(act.at),
                       index(act.slot), index(act.job), gpus_text(act.gpus),
                       act.graceful ? "graceful" : "abrupt", exact_text(act.progress.work),
                       exact_text(act.progress.rate), exact_text(act.progress.since),
                       exact_text(act.progress.saved_work), exact_text(act.progress.added_work));
  }

 private:
  void add(const std::vector<JobEvent>& events) {
    for (const JobEvent& event : events) {
      text += fmt::format("event {} {} {} {} {} {} {} {}", exact_text(event.time),
                          kEventNames.at(static_cast<std::size_t>(event.kind)),
                          id_text(event.slot, kNoSlot), id_text(event.job, kNoJob),
                          id_text(event.node, kNoNode), event.gpu, exact_text(event.work),
                          exact_text(event.rate));
      add_rest(event);
      text += '\n';
    }
  }
  // What few events have.
  void add_rest(const JobEvent& event) {
    static const JobEvent kDefault;
    add("launch", static_cast<int>(event.launch), 0);
    add("saved", event.saved, kDefault.saved);
    add("value", event.value, kDefault.value);
    add("metric", event.metric, kDefault.metric);
    if (event.kind == EventKind::kRevised) {
      text += fmt::format(" of={}", kRevisionNames.at(static_cast<std::size_t>(event.revision)));
    }
  }
  void add(std::string_view name, double value, double initial) {
    if (value != initial) text += fmt::format(" {}={}", name, exact_text(value));
  }
  void add(std::string_view name, int value, int initial) {
    if (value != initial) text += fmt::format(" {}={}", name, value);
  }
  void add(std::string_view name, bool value, bool initial) {
    if (value != initial) text += fmt::format(" {}={}", name, value ? "yes" : "no");
  }
  void add(std::string_view name, Symbol value, Symbol initial) {
    if (value != initial) text += fmt::format(" {}={}", name, escaped(symbols.text(value)));
  }
  void add(std::string_view name, const std::string& value, const std::string& initial) {
    if (value != initial) text += fmt::format(" {}={}", name, escaped(value));
  }
  void add(std::string_view name, const StageTimes& value, const StageTimes& initial) {
    if (value == initial) return;
    text += fmt::format(" {}=", name);
    for (std::size_t i = 0; i < value.size(); ++i) {
      text += fmt::format("{}{}", i == 0 ? "" : "/", exact_text(value[i]));
    }
  }
  void add(std::string_view name, const std::vector<ValueStep>& value,
           const std::vector<ValueStep>& initial) {
    if (value == initial) return;
    text += fmt::format(" {}=", name);
    for (std::size_t i = 0; i < value.size(); ++i) {
      text += fmt::format("{}{}:{}", i == 0 ? "" : "/", exact_text(value[i].by),
                          exact_text(value[i].value));
    }
  }
};

}  // namespace

std::string recording_header(const RecordingKind& kind) {
  return fmt::format("muster-recording {} {}{}{}\n", kRecordingVersion,
                     kind.has_external_events ? "external" : "foreseen",
                     kind.answers_later ? " later" : "", kind.numbers_jobs ? " numbered" : "");
}

std::string recording_end() { return "end\n"; }

std::string text_of(const Recording::Entry& entry, const Symbols& symbols) {
  Writer writer{symbols, {}};
  std::visit(writer, entry);
  return std::move(writer.text);
}

}  // namespace muster
