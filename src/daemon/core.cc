#include "daemon/core.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "engine/invariants.h"
#include "model/belief.h"

namespace muster {

Core::Core(LivePlan plan, const Abilities& abilities, CoreSettings settings)
    : plan_(std::move(plan)),
      abilities_(abilities),
      settings_(std::move(settings)),
      backend_(plan_.parts.perf, plan_.cluster),
      launches_(abilities) {
  for (std::size_t i = 0; i < plan_.cluster->nodes.size(); ++i) {
    const NodeSpec& node = plan_.cluster->nodes[i];
    const NodeId id{static_cast<std::uint32_t>(i)};
    launches_.add_node(id, node.gpus);
    StoredNode& row = nodes_.emplace_back();
    row.id = id;
    row.name = plan_.symbols->text(node.name);
    if (row.name.empty()) row.name = fmt::format("node{}", i);
    row.gpu_type = plan_.symbols->text(node.gpu_type);
    row.gpus = node.gpus;
    outside_.emplace_back();
    touched_nodes_.insert(id);
  }
}

Core::~Core() = default;

Result<std::unique_ptr<Core>> Core::make(LivePlan plan, const Abilities& abilities,
                                         CoreSettings settings, const StoredWorld& world,
                                         Seconds now, CoreRecorder* recorder) {
  std::unique_ptr<Core> core(new Core(std::move(plan), abilities, std::move(settings)));
  core->recorder_ = recorder;
  core->fresh_ = outlook_parts(core->plan_.parts);
  if (recorder != nullptr && core->plan_.answers) {
    core->plan_.answers->on_answer = [recorder](std::size_t policy, const PolicyAnswer* answer) {
      recorder->answer(policy, answer);
    };
  }
  Engine::Parts parts = std::move(core->plan_.parts);
  parts.backend = &core->backend_;
  parts.source = &core->inbox_;
  parts.observers = {core.get()};
  // How often a job may fail is said by its owner, and counted here.
  parts.options.max_crashes = std::numeric_limits<int>::max();
  core->engine_ = std::make_unique<Engine>(std::move(parts));
  if (Status adopted = core->adopt(world, now); !adopted) return adopted.error();
  return core;
}

Symbol Core::word(const std::string& text) {
  if (text.empty()) return kNoSymbol;
  // Words of users are kept for ever: beyond a bound they are not told apart.
  if (plan_.symbols->size() < settings_.most_words) return plan_.symbols->intern(text);
  return plan_.symbols->find(text);
}

JobSpec Core::spec_of(const StoredJob& row, const JobRequest& request) {
  JobSpec spec;
  spec.id = row.id;
  spec.submit = row.submitted;
  spec.arrival = row.submitted;
  spec.gpus = request.gpus;
  spec.min_gpus = request.min_gpus;
  spec.max_gpus = request.max_gpus;
  spec.estimate = request.estimate;
  const Seconds counted = request.iterations * request.step_ms / 1000;
  // What a job is to do is known better than how long its owner believes it to take.
  spec.duration = counted > 0              ? counted
                  : request.estimate > 0   ? request.estimate
                  : request.time_limit > 0 ? request.time_limit
                                           : kUnknownDuration;
  spec.believed = true;  // it grows where the job outruns it
  if (request.deadline != kNever) spec.deadline = row.submitted + request.deadline;
  spec.cpus = request.cpus;
  spec.memory_gb = request.memory_gb;
  spec.iterations = request.iterations;
  spec.step_ms = request.step_ms;
  spec.stage_ms = request.stage_ms;
  spec.batch_size = request.batch_size;
  spec.priority = request.priority;
  spec.model = word(request.model);
  spec.user = word(row.owner);
  // Names of the cluster: what is not among them was refused.
  const bool chosen = !request.partition.empty();
  spec.partition = plan_.symbols->find(chosen ? request.partition : settings_.default_partition);
  spec.gpu_type = plan_.symbols->find(request.gpu_type);
  spec.name = row.name;
  return spec;
}

std::string Core::refusal(const JobSpec& spec, const JobRequest& request) const {
  if (!request.unfit.empty()) return request.unfit;
  const auto unknown = [&](std::string_view kind, const std::string& name,
                           const std::vector<Symbol>& known) {
    std::vector<std::string_view> names;
    names.reserve(known.size());
    for (const Symbol symbol : known) names.push_back(plan_.symbols->text(symbol));
    return unknown_name(kind, name, names);
  };
  const auto missing = [](Symbol symbol, const std::vector<Symbol>& known) {
    return std::find(known.begin(), known.end(), symbol) == known.end();
  };
  const std::vector<Symbol> partitions = plan_.cluster->partition_names();
  if (!request.partition.empty() && missing(spec.partition, partitions)) {
    return unknown("partition", request.partition, partitions);
  }
  const std::vector<Symbol> types = plan_.cluster->gpu_types();
  if (!request.gpu_type.empty() && missing(spec.gpu_type, types)) {
    return unknown("GPU type", request.gpu_type, types);
  }
  if (const Status known = engine_->view().perf.check(spec); !known) return known.error().message;
  return {};
}

void Core::leave(Known& known, JobState state, const std::string& why, Seconds now) {
  known.row.state = std::string(job_state_name(state));
  known.row.reason = why;
  known.row.ended = now;
  known.over = true;
  touched_.insert(known.row.id);
}

void Core::submit(const StoredJob& row, std::shared_ptr<const JobRequest> request, Seconds now) {
  // It may have been found in the store before it came this way.
  if (static_cast<std::uint32_t>(row.id) <= newest_) return;
  newest_ = static_cast<std::uint32_t>(row.id);
  Known& known = known_[row.id];
  known.row = row;
  known.request = std::move(request);
  const JobSpec spec = spec_of(row, *known.request);
  if (const std::string why = refusal(spec, *known.request); !why.empty()) {
    return leave(known, JobState::kRefused, why, now);
  }
  known.held = known.request->hold;
  if (!known.held) return inbox_.add(spec);
  shelf_.emplace(row.id, spec);
  known.row.reason = "it is on hold";
  touched_.insert(row.id);
}

Seconds Core::due() {
  if (!frozen_.empty()) return kNever;
  if (inbox_.added() != offered_ || !events_.empty()) return now_;
  Seconds next = std::min(closing_ ? kNever : engine_->due().at, launches_.due());
  return std::min({next, limits_.next(), silences_.next()});
}

void Core::step(Seconds now) {
  now_ = now;
  launches_.pass_time(now);
  take_news(now);
  check_limits(now);
  check_silence(now);
  if (!frozen_.empty()) return settle_without_engine(now);
  // What is ordered may be answered at once, as where a launch is stopped before it was begun.
  for (int again = 0; again < 8; ++again) {
    // A job that came in a round waits in the inbox for its end: that is news once.
    const bool arrived = std::exchange(offered_, inbox_.added()) != inbox_.added();
    const bool loud_news =
        arrived || std::any_of(events_.begin(), events_.end(),
                               [](const auto& event) { return loud(event.kind); });
    const Due due = engine_->due();
    const std::vector<JobEvent> events = std::exchange(events_, {});
    if (!closing_ && (now >= due.at || (due.or_event && loud_news))) {
      feed(true, now, events);
    } else if (!events.empty() || arrived) {
      feed(false, now, events);
    } else {
      break;
    }
    if (const auto broken = broken_invariant(*engine_)) return freeze(*broken);
    give_orders(now);
    take_news(now);
  }
  if (plan_.round > 0 && engine_->turns() != std::exchange(leased_, engine_->turns())) {
    renew_leases(now);
  }
}

// Events are not taken any more. A job that has finished is done all the same; the rest is found by
// the next daemon in the rows of the launches.
void Core::settle_without_engine(Seconds now) {
  for (const JobEvent& event : std::exchange(events_, {})) {
    Known* known = event.kind == EventKind::kFinished ? active(event.job) : nullptr;
    if (known == nullptr) continue;
    end_launches(*known);
    leave(*known, JobState::kFinished, std::string(reason_sentence(Reason::kCompleted)), now);
  }
}

void Core::feed(bool turn, Seconds now, const std::vector<JobEvent>& events) {
  if (recorder_ != nullptr) {
    // Only a turn takes jobs out of the inbox.
    for (const JobSpec& job : inbox_.jobs()) {
      if (turn) recorder_->arrival(job, *plan_.symbols);
    }
    recorder_->news(turn, now, events, *plan_.symbols);
  }
  if (turn) {
    engine_->turn_at(now, events);
  } else {
    engine_->apply(now, events);
  }
  if (recorder_ != nullptr) recorder_->flush();
}

void Core::close(Seconds now) {
  closing_ = true;
  for (const RunId run : launches_.runs()) {
    const auto known = known_.find(run.job);
    launches_.stop(run, Grace{known == known_.end() ? 0 : known->second.request->grace}, now);
  }
}

void Core::freeze(const std::string& why) {
  if (!frozen_.empty()) return;
  frozen_ = why;
  for (const RunId run : launches_.runs()) effects_.leases.emplace_back(run, kNever);
  effects_.log.push_back(
      fmt::format("nothing is decided any more, running jobs continue: {}. Please report this; a "
                  "restart continues from what was committed",
                  why));
}

RunOrder Core::order(RunId run, std::uint64_t generation) const {
  RunOrder order;
  order.run = run;
  order.generation = generation;
  if (const StoredRun* row = launches_.row(run)) {
    order.gpus = row->gpus;
    order.sharing = row->sharing;
  }
  const auto found = known_.find(run.job);
  if (found == known_.end()) return order;
  const JobRequest& request = *found->second.request;
  order.name = found->second.row.name;
  order.origin = request.origin;
  order.process_per_gpu = request.process_per_gpu;
  order.command = request.command;
  order.environment = request.environment;
  const auto has = [&order](std::string_view name) {
    return std::any_of(order.environment.begin(), order.environment.end(),
                       [name](const auto& variable) { return variable.first == name; });
  };
  if (!has("PATH")) order.environment.emplace_back("PATH", "/usr/local/bin:/usr/bin:/bin");
  if (!request.checkpoint_directory.empty()) {
    order.environment.emplace_back("MUSTER_CHECKPOINT_DIR", request.checkpoint_directory);
  }
  order.working_directory = request.working_directory;
  const StoredJob& row = found->second.row;
  if (row.owner != settings_.own_user) order.user = row.owner;
  order.grace = request.grace;
  order.believed = std::max(0.0, row.total_work - row.saved_work);
  order.cpus = request.cpus;
  order.max_nodes = request.max_nodes;
  order.memory_gb = request.memory_gb;
  return order;
}

}  // namespace muster
