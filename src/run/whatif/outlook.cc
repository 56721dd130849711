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
    job.spec.truth.set({ratio * job.spec.duration, ratio * job.spec.iterations,
                        std::max(0.0, ratio * job.total_work - job.added_work)});
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

// Of all that is drawn, the one future that `of` looks at.
template <typename Of>
Expected over_futures(Seconds believed, std::size_t futures, const Of& of) {
  std::vector<Seconds> drawn;
  for (std::size_t i = 0; i < futures; ++i) drawn.push_back(of(i));
  return expect(believed, drawn);
}

// When the last of those that end does.
Seconds last_of(const std::vector<Life>& lives) {
  Seconds last = kNever;
  for (const Life& life : lives) {
    if (life.end != kNever) last = last == kNever ? life.end : std::max(last, life.end);
  }
  return last;
}

std::vector<JobOutlook> jobs_of(const EngineWorld& world, const std::vector<Life>& believed,
                                const std::vector<std::vector<Life>>& samples) {
  std::vector<JobOutlook> jobs;
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    const Job& job = world.jobs[i];
    JobOutlook& one = jobs.emplace_back();
    one.id = job.spec.id;
    one.name = display_name(job.spec);
    one.state = job.state;
    one.gpus = job.spec.gpus;
    one.submit = job.spec.submit;
    one.turn = believed[i].turn;
    one.start = over_futures(believed[i].start, samples.size(),
                             [&](std::size_t s) { return samples[s][i].start; });
    one.end = over_futures(believed[i].end, samples.size(),
                           [&](std::size_t s) { return samples[s][i].end; });
    one.refused = believed[i].refused;
    one.stuck = believed[i].stuck;
  }
  return jobs;
}

}  // namespace

Expected mean_completion(const Outlook& outlook, const std::vector<bool>& counted) {
  const auto mean = [&](const auto& end_of) {
    double sum = 0;
    int finished = 0;
    for (std::size_t i = 0; i < outlook.jobs.size(); ++i) {
      const Seconds end = end_of(i);
      if (!counted[i] || end == kNever) continue;
      sum += end - outlook.jobs[i].submit;
      ++finished;
    }
    return finished > 0 ? sum / finished : kNever;
  };
  return over_futures(
      mean([&](std::size_t i) { return outlook.jobs[i].end.believed; }), outlook.drawn_ends.size(),
      [&](std::size_t s) { return mean([&](std::size_t i) { return outlook.drawn_ends[s][i]; }); });
}

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
  outlook.nodes_out = static_cast<int>(
      std::count_if(world.nodes.begin(), world.nodes.end(), [](const WorldNode& node) {
        return !node.removed && (!node.up || node.drained || node.broken_gpus != 0);
      }));
  outlook.jobs = jobs_of(world, believed, samples);
  for (const std::vector<Life>& lives : samples) {
    std::vector<Seconds>& ends = outlook.drawn_ends.emplace_back();
    for (const Life& life : lives) ends.push_back(life.end);
  }
  outlook.completion_time = mean_completion(outlook, std::vector<bool>(outlook.jobs.size(), true));
  outlook.last_end = over_futures(last_of(believed), samples.size(),
                                  [&](std::size_t s) { return last_of(samples[s]); });
  outlook.unfinished = static_cast<int>(std::count_if(
      believed.begin(), believed.end(), [](const Life& life) { return life.end == kNever; }));
  return outlook;
}

}  // namespace muster
