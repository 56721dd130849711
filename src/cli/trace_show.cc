// `muster trace info`, `head` and `formats`: what is in a trace, and what Muster can read.
#include <algorithm>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/show.h"
#include "cli/trace_info.h"
#include "cli/trace_parts.h"
#include "report/json.h"
#include "report/table.h"
#include "workload/cluster_file.h"
#include "workload/timestamp.h"
#include "workload/trace_format.h"

namespace muster {
namespace {

void append_json(const JobSpec& job, std::uint64_t line, const Symbols& symbols, JsonWriter& json) {
  json.begin_object().member("line", static_cast<double>(line)).member("job_id", job.name);
  json.member("submit_s", job.submit)
      .member("duration_s", job.duration)
      .member("gpus", static_cast<double>(job.gpus));
  const auto number = [&json](std::string_view key, double value) {
    if (value != 0) json.member(key, value);
  };
  number("min_gpus", job.min_gpus);
  number("max_gpus", job.max_gpus);
  if (job.deadline != kNever) json.member("deadline_s", job.deadline);
  number("estimate_s", job.estimate);
  number("cpus", job.cpus);
  number("memory_gb", job.memory_gb);
  number("iterations", job.iterations);
  number("batch_size", job.batch_size);
  number("priority", job.priority);
  for (const auto& [key, symbol] :
       {std::pair("model", job.model), std::pair("user", job.user),
        std::pair("partition", job.partition), std::pair("gpu_type", job.gpu_type)}) {
    if (symbol != kNoSymbol) json.member(key, symbols.text(symbol));
  }
  json.end_object();
}

bool writable(std::string_view name) {
  const auto& formats = writable_formats();
  return std::any_of(formats.begin(), formats.end(),
                     [name](const WritableFormat& format) { return format.name == name; });
}

}  // namespace

int trace_info(const TraceCommandOptions& options) {
  auto reading = reading_of(options);
  if (!reading) return complain(reading.error());
  reading->any_order = true;
  Symbols symbols;
  std::optional<ClusterSpec> cluster;
  if (!options.cluster.empty()) {
    auto read = read_cluster(options.cluster, symbols);
    if (!read) return complain(read.error());
    cluster = std::move(*read);
  }
  auto reader = TraceReader::open(options.file, *reading, symbols);
  if (!reader) return complain(reader.error());
  TraceInfo gathered;
  JobSteps steps(options, "info");
  for (; (*reader)->peek() != nullptr; (*reader)->pop()) {
    gathered.add(*(*reader)->peek());
    if (!steps.step()) return kExitInterrupted;
  }
  steps.stop();
  if (const auto error = (*reader)->error()) return complain(*error);
  const TraceStats& stats = (*reader)->stats();
  if (!options.json) tell_notes(stats);
  const ClusterSpec* shape = cluster ? &*cluster : nullptr;
  const std::string name = shown_name(options.file);
  if (options.json) {
    fmt::print("{}", gathered.json(name, stats, symbols, shape));
  } else {
    print_fitted(gathered.text(name, stats, symbols, shape, options.cluster));
  }
  return kExitOk;
}

int trace_head(const TraceCommandOptions& options) {
  auto reading = reading_of(options);
  if (!reading) return complain(reading.error());
  reading->any_order = true;
  Symbols symbols;
  auto reader = TraceReader::open(options.file, *reading, symbols);
  if (!reader) return complain(reader.error());
  JsonWriter json(2);
  json.begin_array();
  Table table({{"line", "line", Unit::kCount, Better::kNeither},
               {"job_id", "job", Unit::kCount, Better::kNeither},
               {"submit", "submitted", Unit::kCount, Better::kNeither},
               {"duration", "duration", Unit::kSeconds, Better::kNeither},
               {"gpus", "GPUs", Unit::kCount, Better::kNeither},
               {"deadline", "deadline", Unit::kCount, Better::kNeither},
               {"partition", "partition", Unit::kCount, Better::kNeither},
               {"user", "user", Unit::kCount, Better::kNeither},
               {"model", "model", Unit::kCount, Better::kNeither}});
  const auto time = [](Seconds when) -> Cell {
    if (when == kNever) return {};
    return when >= kWallClock ? timestamp_text(when) : exact_text(when) + " s";
  };
  for (std::size_t i = 0; i < options.jobs && (*reader)->peek() != nullptr; ++i, (*reader)->pop()) {
    const JobSpec& job = *(*reader)->peek();
    append_json(job, (*reader)->line(), symbols, json);
    table.add_row({static_cast<double>((*reader)->line()), job.name, time(job.submit), job.duration,
                   static_cast<double>(job.gpus), time(job.deadline), symbols.text(job.partition),
                   symbols.text(job.user), symbols.text(job.model)});
  }
  if (const auto error = (*reader)->error()) return complain(*error);
  json.end_array();
  fmt::print("{}", options.json ? json.take() + "\n" : table.text(text_style(STDOUT_FILENO)));
  return kExitOk;
}

int trace_formats_list(const TraceCommandOptions& options) {
  if (options.json) {
    JsonWriter json(2);
    json.begin_array();
    for (const TraceFormat& format : trace_formats()) {
      json.begin_object().member("name", format.name).member("sentence", format.sentence);
      json.member("source", format.source).member("writable", writable(format.name));
      json.key("settings").begin_array();
      for (const ParamInfo& setting : format.settings()) {
        json.begin_object().member("name", setting.name).member("default", setting.initial);
        json.member("sentence", setting.sentence).end_object();
      }
      json.end_array().end_object();
    }
    json.end_array();
    fmt::print("{}\n", json.text());
    return kExitOk;
  }
  for (const TraceFormat& format : trace_formats()) {
    show("{:<12} {}{}\n{:<12} from {}\n", format.name, format.sentence,
         writable(format.name) ? "; can be written" : "", "", format.source);
    for (const ParamInfo& setting : format.settings()) {
      show("{:<12} --set {}={}: {}\n", "", setting.name, setting.initial, setting.sentence);
    }
  }
  return kExitOk;
}

}  // namespace muster
