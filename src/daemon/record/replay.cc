#include <deque>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/live/live_backend.h"
#include "base/out_file.h"
#include "base/text.h"
#include "daemon/live_inbox.h"
#include "daemon/outside/recorded_loader.h"
#include "daemon/outside/wire.h"
#include "daemon/record/record_json.h"
#include "daemon/record/recorder.h"
#include "run/config/load_config.h"

namespace muster {
namespace {

using Json = nlohmann::json;

Result<LivePlan> plan_of(const std::string& description,
                         const std::shared_ptr<RecordedPolicies>& policies) {
  const auto document = parse_toml(description, "the recording");
  if (!document) return document.error();
  auto config = load_config(*document, "the recording", "", {});
  if (!config) return config.error();
  config->loader = std::make_shared<RecordedLoader>(policies);
  auto complete = complete_config(std::move(*config));
  if (!complete) return complete.error();
  return make_live_plan(*complete);
}

// The policies from outside the tree, without their answers.
Result<std::shared_ptr<RecordedPolicies>> policies_of(const Json& begin) {
  auto policies = std::make_shared<RecordedPolicies>();
  for (const Json& one : begin.value("policies", Json::array())) {
    auto declared = read_declaration(one.at("declared").get<std::string>());
    if (!declared) return declared.error();
    policies->push_back({one.at("kind").get<std::string>(),
                         one.at("name").get<std::string>(),
                         std::move(*declared),
                         {}});
  }
  return policies;
}

// One segment: an engine made of what the segment begins with, and fed with its lines.
class Segment final : private Observer {
 public:
  static Result<std::unique_ptr<Segment>> make(const Json& begin) {
    auto policies = policies_of(begin);
    if (!policies) return policies.error();
    auto plan = plan_of(begin.at("begin").get<std::string>(), *policies);
    if (!plan) return plan.error();
    std::unique_ptr<Segment> segment(new Segment(std::move(*plan)));
    segment->policies_ = std::move(*policies);
    const EngineWorld world = world_from(begin.at("world"), *segment->plan_.symbols);
    if (Status adopted = segment->engine_->adopt(world); !adopted) return adopted.error();
    return segment;
  }

  void add_job(const Json& job) { inbox_.add(spec_from(job, *plan_.symbols)); }
  // Answers are recorded after the turn in which they were given, and needed before.
  void hear_answer(const Json& line) {
    const auto policy = line.at("policy").get<std::size_t>();
    if (policy < policies_->size()) {
      (*policies_)[policy].next.push_back(answer_from(line.at("answer")));
    }
  }
  void go_on(bool turn, Seconds now, const Json& events) {
    std::vector<JobEvent> list;
    for (const Json& event : events) list.push_back(event_from(event, *plan_.symbols));
    if (turn) {
      engine_->turn_at(now, list);
    } else {
      engine_->apply(now, list);
    }
    static_cast<void>(backend_.take_orders());
  }
  // The next decision that was made here; null if there was none.
  Json next_decision() {
    if (decisions_.empty()) return {};
    Json first = std::move(decisions_.front());
    decisions_.pop_front();
    return first;
  }

 private:
  explicit Segment(LivePlan plan)
      : plan_(std::move(plan)), backend_(plan_.parts.perf, plan_.cluster) {
    Engine::Parts parts = std::move(plan_.parts);
    parts.backend = &backend_;
    parts.source = &inbox_;
    parts.observers = {this};
    parts.options.max_crashes = std::numeric_limits<int>::max();
    engine_ = std::make_unique<Engine>(std::move(parts));
  }
  void on_decision(const Decision& decision) override { decisions_.push_back(to_json(decision)); }

  LivePlan plan_;
  LiveBackend backend_;
  LiveInbox inbox_;
  std::shared_ptr<RecordedPolicies> policies_;
  std::unique_ptr<Engine> engine_;
  std::deque<Json> decisions_;
};

// Gives the segment the answers of the turn that begins at line `at`.
void hear_answers(const std::vector<std::string_view>& lines, std::size_t at, Segment& segment) {
  for (std::size_t i = at + 1; i < lines.size(); ++i) {
    if (lines[i].starts_with("{\"decision\"")) continue;
    if (!lines[i].starts_with("{\"answer\"")) return;
    const Json line = Json::parse(lines[i], nullptr, false);
    if (line.is_object()) segment.hear_answer(line);
  }
}

Status replay_line(const Json& line, std::unique_ptr<Segment>& segment, ReplayOutcome& outcome) {
  if (line.contains("begin")) {
    auto made = Segment::make(line);
    if (!made) return made.error();
    segment = std::move(*made);
    ++outcome.segments;
    return Done{};
  }
  if (!segment) return Error{"a segment has to begin first"};
  if (line.contains("job")) {
    segment->add_job(line["job"]);
  } else if (line.contains("decision")) {
    ++outcome.decisions;
    const Json here = segment->next_decision();
    if (here != line["decision"] && outcome.difference.empty()) {
      outcome.difference =
          fmt::format("decision {}: recorded {}, now {}", outcome.decisions,
                      line["decision"].dump(), here.is_null() ? "none" : here.dump());
    }
  } else if (!line.contains("answer")) {
    const bool turn = line.contains("turn");
    outcome.turns += turn ? 1 : 0;
    segment->go_on(turn, line.at(turn ? "turn" : "news").get<double>(), line.at("events"));
  }
  return Done{};
}

}  // namespace

Result<ReplayOutcome> replay_recording(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  ReplayOutcome outcome;
  std::unique_ptr<Segment> segment;
  const std::vector<std::string_view> lines = split(*text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const auto where = [&](const std::string& what) {
      return Error{fmt::format("{}:{}: {}", path, i + 1, what)};
    };
    const Json line = Json::parse(lines[i], nullptr, false);
    if (line.is_discarded()) {
      // A daemon that was killed leaves half a line before the next segment, or at the end.
      outcome.cut_off = true;
      continue;
    }
    try {
      if (segment && (line.contains("turn") || line.contains("news"))) {
        hear_answers(lines, i, *segment);
      }
      if (Status done = replay_line(line, segment, outcome); !done) {
        return where(done.error().message);
      }
    } catch (const Json::exception& problem) {
      return where(problem.what());
    }
    if (!outcome.difference.empty()) {
      outcome.difference = where(outcome.difference).message;
      return outcome;
    }
  }
  if (outcome.segments == 0) return Error{fmt::format("{}: not a recording of a daemon", path)};
  return outcome;
}

}  // namespace muster
