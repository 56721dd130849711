#include "run/whatif/outlook.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "backend/sim/sim_backend.h"
#include "base/parallel.h"

namespace muster {
namespace {

struct Life {
  Seconds start = kNever;
  Seconds end = kNever;
};

// What became of each job of one copy, by the place of the job in the world.
class Lives final : public Observer {
 public:
  explicit Lives(const EngineWorld& world) : lives_(world.jobs.size()) {
    for (std::size_t i = 0; i < world.jobs.size(); ++i) {
      places_.emplace(index(world.jobs[i].spec.id), i);
      lives_[i].start = world.jobs[i].first_start;
    }
  }
  void on_decision(const Decision& decision) override {
    if (decision.action != Action::kStart) return;
    Life& life = lives_[places_.at(index(decision.job))];
    life.start = std::min(life.start, decision.time);
  }
  void on_job_end(const JobRecord& job) override {
    if (job.status == JobState::kFinished) lives_[places_.at(index(job.id))].end = job.end;
  }
  const std::vector<Life>& lives() const { return lives_; }

 private:
  std::unordered_map<std::size_t, std::size_t> places_;
  std::vector<Life> lives_;
};

// The cluster as a new simulator must see it: what was scheduled for the past has happened.
std::shared_ptr<const ClusterSpec> from_now_on(const ClusterSpec& cluster, Seconds now) {
  auto spec = std::make_shared<ClusterSpec>(cluster);
  std::erase_if(spec->schedule, [now](const NodeChange& change) { return change.time <= now; });
  return spec;
}

// Every job ends when the work that it is believed to have is done.
void forget_truth(EngineWorld& world) {
  for (Job& job : world.jobs) {
    job.spec.true_duration = job.spec.true_iterations = job.spec.true_work = -1;
  }
}

// Draws how long each job really is. What a job has done already it has: the draw is among lengths
// beyond that; where there are hardly any, it is the next that overruns would lead to.
void draw_truth(EngineWorld& world, ErrorModel& errors) {
  for (Job& job : world.jobs) {
    constexpr int kTries = 32;
    const double done = job.work_at(world.now);
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

Result<std::vector<Life>> live(const EngineWorld& world, const OutlookParts& parts,
                               const std::shared_ptr<const ClusterSpec>& cluster, Seconds horizon) {
  SimBackend backend(SimParts{.cluster = cluster, .perf = parts.perf, .cost = parts.cost});
  backend.begin_at(world.now);
  ListSource source({});
  Lives lives(world);
  Engine::Parts engine;
  engine.cluster = cluster;
  engine.perf = parts.perf;
  engine.pacing = parts.pacing->clone();
  engine.policy_sets.push_back(parts.policies->clone());
  engine.forecast = parts.forecast;
  engine.backend = &backend;
  engine.source = &source;
  engine.observers = {&lives};
  engine.options = parts.options;
  engine.options.until_left.reset();
  engine.options.close_look = false;
  engine.options.until = std::min(parts.options.until, world.now + horizon);
  Engine copy(std::move(engine));
  if (Status adopted = copy.adopt(world); !adopted) return adopted.error();
  while (copy.turn()) {
  }
  return lives.lives();
}

// The value below which a tenth of the samples lie, and the one above which a tenth do.
Expected expect(Seconds believed, std::vector<Seconds>& samples) {
  if (samples.empty()) return {believed, believed, believed};
  std::sort(samples.begin(), samples.end());
  constexpr double kTail = 0.1;
  const auto last = static_cast<double>(samples.size() - 1);
  const auto low = static_cast<std::size_t>(std::floor(kTail * last));
  const auto high = static_cast<std::size_t>(std::ceil((1 - kTail) * last));
  return {believed, samples[low], samples[high]};
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
  const auto cluster = from_now_on(*parts.cluster, world.now);
  EngineWorld copy = world;
  forget_truth(copy);
  const auto believed = live(copy, parts, cluster, options.horizon);
  if (!believed) return believed.error();
  const auto count = static_cast<std::size_t>(options.errors ? options.samples : 0);
  std::vector<std::vector<Life>> samples(count);
  std::vector<std::optional<Error>> problems(count);
  in_parallel(count, options.threads, [&](std::size_t i) {
    EngineWorld drawn = world;
    draw_truth(drawn, *options.errors(static_cast<int>(i)));
    auto lives = live(drawn, parts, cluster, options.horizon);
    if (lives) {
      samples[i] = std::move(*lives);
    } else {
      problems[i] = lives.error();
    }
  });
  for (const auto& problem : problems) {
    if (problem) return *problem;
  }
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
    one.start = over_samples((*believed)[i].start,
                             [i](const std::vector<Life>& lives) { return lives[i].start; });
    one.end = over_samples((*believed)[i].end,
                           [i](const std::vector<Life>& lives) { return lives[i].end; });
  }
  const Whole whole = sum_up(world, *believed);
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
