#include "artifacts/lucid/countdown.h"

#include <algorithm>
#include <cmath>

#include "backend/sim/sim_backend.h"

namespace muster {
namespace {

double count_down(double left, double rate, long long seconds) {
  // Taking away one is exact, however often.
  if (rate == 1) return left - static_cast<double>(seconds);
  for (long long i = 0; i < seconds; ++i) left -= rate;
  return left;
}

}  // namespace

double Countdown::left_at(Seconds now) const {
  return count_down(left, rate, std::llround(std::max(0.0, now - since)));
}

Seconds Countdown::end() const {
  if (left <= 0) return since + 1;
  const double exact = left / rate;
  double seconds = std::ceil(exact);
  // Each step rounds: where that could decide about a whole second, count as the loop does.
  constexpr double kRoundingOfStep = 2.3e-16;
  const double doubt = (seconds + 2) * left * kRoundingOfStep / rate;
  if (rate != 1 && std::abs(exact - std::round(exact)) <= doubt) {
    seconds = std::max(0.0, std::floor(exact - 2 * doubt) - 1);
    double rest = count_down(left, rate, std::llround(seconds));
    for (; rest > 0; ++seconds) rest -= rate;
  }
  return since + seconds + 1;
}

double CountdownModel::rate(const Command& command, double usual) const {
  const bool left_alone = command.kind == CommandKind::kUpdateRate && command.job->joined &&
                          command.context.neighbours.empty();
  return joined_keep_rate_ && left_alone ? command.job->rate : usual;
}

double CountdownModel::work_by(const Command& command, double, Seconds now) const {
  const Countdown& clock = clocks_[index(command.slot)];
  return clock.total - clock.left_at(now);
}

Seconds CountdownModel::end_of(const Command& command, const JobProgress& progress, double total,
                               Seconds now) {
  const std::size_t slot = index(command.slot);
  if (clocks_.size() <= slot) clocks_.resize(slot + 1);
  Countdown& clock = clocks_[slot];
  // Work is kept as what is left: subtracting it from the total and back would lose digits.
  if (!command.job->running() || command.kind == CommandKind::kAdopt) {
    const double left = std::max(0.0, total - progress.work);
    clock = {left, progress.rate, progress.since, command.context.joined, total};
  } else {
    // Jobs are counted down in the order of their starts: one that joined another and is alone now
    // finds its new rate already set in this very second.
    const bool alone_again = clock.behind && command.context.neighbours.empty();
    const Seconds from = alone_again ? std::max(clock.since, now - 1) : now;
    double left = clock.left_at(from);
    // A fork goes by what is believed. What is done is done.
    if (total != clock.total) left = std::max(0.0, left + total - clock.total);
    clock = {left, progress.rate, std::max(from, clock.since), command.context.joined, total};
  }
  return clock.end();
}

ProgressInfo countdown_progress() {
  return {
      "countdown",
      "work counts down in whole seconds; a job ends in the first second in which no work is left, "
      "and a stop adds its restart cost to the work",
      "Lucid, 2023",
      {{"joined_keep_rate", ParamKind::kFlag, "false",
        "a job that joined another keeps the rate of sharing after the other has left, as "
        "published"}},
      [](const Params& p, SimParts parts, const Pacing&) -> std::unique_ptr<Backend> {
        return std::make_unique<SimBackend>(
            std::move(parts), std::make_unique<CountdownModel>(p.flag("joined_keep_rate")));
      },
      "ticks"};
}

}  // namespace muster
