#include "run/whatif/outlook.h"

#include <algorithm>
#include <optional>

#include "base/parallel.h"
#include "model/belief.h"
#include "run/whatif/future.h"

namespace muster {
namespace {

// Every job ends when the work that it is believed to have is done.
void forget_truth(EngineWorld& world) {
  for (Job& job : world.jobs) forget_truth(job.spec);
}

// Draws how long each job really is. What a job has done already it has: the draw is among lengths
// beyond that; where there are hardly any, it is the next that overruns would lead to.
void draw_truth(EngineWorld& world, ErrorModel& errors) {
  for (Job& job : world.jobs) {
    constexpr int kTries = 32;
    const double done = job.work_at(world.now);
    if (!(job.total_work > 0)) continue;  // it takes no time
    double ratio = 1 / errors.factor(job.spec);
    for (int i = 1; i < kTries && ratio * job.total_work <= done; ++i) {
      ratio = 1 / errors.factor(job.spec);
    }
    while (ratio * job.total_work <= done) ratio *= 2;
    job.spec.believed = true;
    job.spec.true_duration = ratio * job.spec.duration;
    job.spec.true_iterations = ratio * job.spec.iterations;
    job.spec.true_work = std::max(0.0, ratio * job.total_work - job.added_work);
  }
}

// The value below which a tenth of all futures lie, and the one above which a tenth do: between the
// i-th and the j-th of n drawn values there are (j - i) / (n + 1) of the others, on average.
Expected expect(Seconds believed, std::vector<Seconds>& samples) {
  if (samples.empty()) return {believed, believed, believed};
  std::sort(samples.begin(), samples.end());
  const std::size_t low = std::max<std::size_t>(1, (samples.size() + 1) / 10);
  return {believed, samples[low - 1], samples[samples.size() - low]};
}

struct Whole {
  double completion_time = 0;
  Seconds last_end = 0;
  int unfinished = 0;
};

Whole sum_up(const EngineWorld& world, const std::vector<Life>& lives) {
  Whole whole;
  int finished = 0;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    if (lives[i].end == kNever) {
      ++whole.unfinished;
      continue;
    }
    whole.completion_time += lives[i].end - world.jobs[i].spec.submit;
    whole.last_end = std::max(whole.last_end, lives[i].end);
    ++finished;
  }
  whole.completion_time = finished > 0 ? whole.completion_time / finished : kNever;
  if (finished == 0) whole.last_end = kNever;
  return whole;
}

}  // namespace

Result<Outlook> look_out(const EngineWorld& world, const OutlookParts& parts,
                         const OutlookOptions& options) {
  // The first future is as believed, the others are drawn.
  const auto count = static_cast<std::size_t>(options.errors ? options.samples : 0);
  std::vector<std::vector<Life>> samples(count + 1);
  std::vector<std::optional<Error>> problems(count + 1);
  in_parallel(count + 1, options.threads, [&](std::size_t i) {
    EngineWorld copy = world;
    if (i == 0) {
      forget_truth(copy);
    } else {
      draw_truth(copy, *options.errors(static_cast<int>(i) - 1));
    }
    auto lives = live_on(copy, parts, options, i > 0);
    if (lives) {
      samples[i] = std::move(*lives);
    } else {
      problems[i] = lives.error();
    }
  });
  for (const auto& problem : problems) {
    if (problem) return *problem;
  }
  const std::vector<Life> believed = std::move(samples.front());
  samples.erase(samples.begin());
  Outlook outlook;
  outlook.now = world.now;
  std::vector<Seconds> drawn;
  const auto over_samples = [&](Seconds value, const auto& of) {
    drawn.clear();
    for (const std::vector<Life>& sample : samples) drawn.push_back(of(sample));
    return expect(value, drawn);
  };
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    const Job& job = world.jobs[i];
    JobOutlook& one = outlook.jobs.emplace_back();
    one.id = job.spec.id;
    one.name = display_name(job.spec);
    one.state = job.state;
    one.gpus = job.spec.gpus;
    one.submit = job.spec.submit;
    one.turn = believed[i].turn;
    one.start = over_samples(believed[i].start,
                             [i](const std::vector<Life>& lives) { return lives[i].start; });
    one.end =
        over_samples(believed[i].end, [i](const std::vector<Life>& lives) { return lives[i].end; });
  }
  const Whole whole = sum_up(world, believed);
  outlook.unfinished = whole.unfinished;
  outlook.completion_time = over_samples(
      whole.completion_time,
      [&](const std::vector<Life>& lives) { return sum_up(world, lives).completion_time; });
  outlook.last_end = over_samples(whole.last_end, [&](const std::vector<Life>& lives) {
    return sum_up(world, lives).last_end;
  });
  return outlook;
}

}  // namespace muster
