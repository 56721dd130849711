#include "daemon/record/recorder.h"

#include <cerrno>

#include <nlohmann/json.hpp>

#include "base/out_file.h"
#include "daemon/outside/recorded_loader.h"
#include "daemon/record/record_json.h"

namespace muster {
namespace {

using Json = nlohmann::json;

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<std::unique_ptr<CoreRecorder>> CoreRecorder::open(const std::string& path) {
  std::unique_ptr<CoreRecorder> recorder(new CoreRecorder(path));
  if (!recorder->out_) return file_error("write", path, errno);
  // What a crash cut off is not to run into our first line.
  recorder->out_ << "\n";
  return recorder;
}

void CoreRecorder::begin(const LivePlan& plan, const EngineWorld& world) {
  Json line = {{"begin", plan.description}, {"world", to_json(world, *plan.symbols)}};
  if (plan.answers) {
    Json& policies = line["policies"] = Json::array();
    for (const AnswerLog::Policy& one : plan.answers->policies) {
      policies.push_back({{"kind", one.kind}, {"name", one.name}, {"declared", one.declared}});
    }
  }
  out_ << line_of(line);
}

void CoreRecorder::arrival(const JobSpec& job, const Symbols& symbols) {
  out_ << line_of({{"job", to_json(job, symbols)}});
}

void CoreRecorder::news(bool turn, Seconds now, std::span<const JobEvent> events,
                        const Symbols& symbols) {
  Json list = Json::array();
  for (const JobEvent& event : events) list.push_back(to_json(event, symbols));
  out_ << line_of({{turn ? "turn" : "news", now}, {"events", list}});
}

void CoreRecorder::decision(const Decision& decision) {
  out_ << line_of({{"decision", to_json(decision)}});
}

void CoreRecorder::answer(std::size_t policy, const PolicyAnswer* answer) {
  out_ << line_of({{"answer", answer_json(answer)}, {"policy", policy}});
}

}  // namespace muster
