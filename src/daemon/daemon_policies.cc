// Which policies decide: the chosen ones, unless the daemon crashed with them again and again.
#include <fmt/format.h>

#include "base/text.h"
#include "daemon/daemon.h"

namespace muster {
namespace {

constexpr const char* kStarts = "starts without health";
constexpr const char* kStartsOf = "policies of these starts";

std::string note_of(const StoredWorld& world, const char* name) {
  const auto found = world.notes.find(name);
  return found == world.notes.end() ? "" : found->second;
}

// What decides, whatever the machines: deaths count for these policies and for no others.
std::string policies_of(const LivePlan& plan) {
  RunConfig config = plan.config;
  config.cluster = {};
  return to_toml(config);
}

}  // namespace

Status Daemon::open_core(const StoredWorld& world, bool again) {
  Result<LivePlan> plan = settings_.make_plan(false);
  if (!plan) return plan.error();
  const std::string policies = policies_of(*plan);
  const bool same = note_of(world, kStartsOf) == policies;
  const std::int64_t deaths = same ? parse_integer(note_of(world, kStarts)).value_or(0) : 0;
  const bool safe = !again && settings_.most_deaths > 0 && deaths >= settings_.most_deaths;
  if (safe) {
    say(
        fmt::format("it died {} times right after its start with {}: going on with first come, "
                    "first served until it is restarted with another policy, or reloaded",
                    deaths, plan->label));
    plan = settings_.make_plan(true);
    if (!plan) return plan.error();
  }
  for (const std::string& note : plan->notes) say(note);
  const std::string label = plan->label;
  const auto names = [&plan](const std::vector<Symbol>& symbols) {
    std::vector<std::string> list;
    for (const Symbol symbol : symbols) {
      if (symbol != kNoSymbol) list.push_back(plan->symbols->text(symbol));
    }
    return list;
  };
  std::vector<std::string> partitions = names(plan->cluster->partition_names());
  std::vector<std::string> gpu_types = names(plan->cluster->gpu_types());
  auto core = Core::make(std::move(*plan), executor_->abilities(), settings_.core, world,
                         clock_->now(), recorder_.get());
  if (!core) return core.error();
  core_ = std::move(*core);
  {
    const std::lock_guard lock(status_mutex_);
    label_ = label;
    safe_ = safe;
    partitions_ = std::move(partitions);
    gpu_types_ = std::move(gpu_types);
  }
  note_frozen();
  healthy_ = false;
  tried_ = LiveClock::unix_now();
  // A description that is refused is no death, and what dies in safe mode are not these policies.
  Batch start;
  start.notes[kStartsOf] = policies;
  start.notes[kStarts] = std::to_string(deaths + (safe ? 0 : 1));
  return committer_->commit(start);
}

void Daemon::forget_deaths() {
  healthy_ = true;
  if (safe_) return;
  Batch batch;
  batch.notes[kStarts] = "0";
  if (const Status done = committer_->commit(batch); !done) say(done.error().message);
}

void Daemon::reload_if(bool wanted) {
  std::vector<std::function<void(const Status&)>> asked;
  {
    const std::lock_guard lock(mutex_);
    asked.swap(reloads_);
  }
  if (!wanted && asked.empty()) return;
  const Status done = reload();
  say(done ? fmt::format("reloaded: {}", label_)
           : fmt::format("not reloaded, all goes on as before: {}", done.error().message));
  for (const auto& told : asked) told(done);
}

// As a restart would, except for the sockets and the processes: what was committed is all there is.
Status Daemon::reload() {
  act(core_->take(clock_->now()));
  const Result<StoredWorld> world = committer_->load();
  if (!world) return world.error();
  if (Status opened = open_core(*world, true); !opened) return opened;
  act(core_->take(clock_->now()));
  ask_for_census();
  return Done{};
}

}  // namespace muster
