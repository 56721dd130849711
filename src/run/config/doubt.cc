// What a description says that is allowed, but hardly meant.
#include <string_view>

#include <fmt/format.h>

#include "base/table_lookup.h"
#include "base/text.h"
#include "run/config/config.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

// How often a policy lets jobs take turns, and what that is called.
struct Period {
  Seconds length = kNever;
  std::string_view noun;
};

// Policies that take turns have a parameter for that, which a pacing in rounds replaces.
Period period_of(const Choice& scheduling, const Choice& pacing) {
  for (const std::string_view name : {"quantum", "round"}) {
    const auto own = scheduling.params.find(name);
    if (own == scheduling.params.end()) continue;
    const auto row = find_row("pacing", plugin_tables().pacing, pacing.name);
    const bool rounds = row && (*row)->rounds;
    const std::string& text = rounds ? pacing.params.at("length") : own->second;
    return {parse_real(text).value_or(kNever), rounds ? "round" : name};
  }
  return {};
}

// What a job loses each time that it gives its GPUs up and comes back.
std::string loss_text(Seconds life, Seconds restart) {
  if (life == 0) return fmt::format("a restart costs {} s", restart);
  const std::string text = fmt::format("a stop and a start take up to {} s ([life])", life);
  return restart == 0 ? text : text + fmt::format(" and a restart costs {} s", restart);
}

}  // namespace

std::string doubt_about(const RunConfig& config) {
  const LifeOptions& life = config.life;
  const Seconds latency = (life.start_latency + life.stop_latency) * (1 + life.spread);
  const Seconds restart = config.restart.restart;
  if (latency + restart == 0) return {};
  for (const PolicySetConfig& one : deciding_sets(config)) {
    const Period period = period_of(one.scheduling, config.pacing);
    if (latency + restart < period.length) continue;
    return fmt::format(
        "{}, and {} reorders jobs every {} s: jobs that take turns may hardly get on, or never; "
        "lengthen the {} or lower the cost",
        loss_text(latency, restart), one.scheduling.name, period.length, period.noun);
  }
  return {};
}

}  // namespace muster
