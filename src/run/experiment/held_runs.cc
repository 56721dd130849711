#include "run/experiment/held_runs.h"

#include "run/assembly/simulation.h"

namespace muster {

Held HeldRuns::of(const RunConfig& config, const std::function<bool()>& keep_going) {
  std::promise<Held> mine;
  std::shared_future<Held> made;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    RunConfig nameless = config;
    nameless.name.clear();
    const auto [found, fresh] = runs_.try_emplace(to_toml(nameless));
    if (fresh) found->second = mine.get_future().share();
    made = found->second;
    first = fresh;
  }
  if (!first) return made.get();
  auto run = std::make_shared<HeldAgainst>(HeldAgainst{{}, Completions(config)});
  const auto summary = measure_run(config, nullptr, keep_going, &run->times);
  if (!summary) {
    mine.set_value(Held(summary.error()));
  } else if (!*summary) {
    mine.set_value(std::shared_ptr<const HeldAgainst>());
  } else {
    run->summary = **summary;
    mine.set_value(std::shared_ptr<const HeldAgainst>(std::move(run)));
  }
  return made.get();
}

}  // namespace muster
