// Pollux as the ElasticFlow artifact simulates it for its figure 8(a).
#include <algorithm>
#include <cmath>

#include "artifacts/elasticflow/goodput_learner.h"
#include "model/truth.h"
#include "policy/pollux/restart_factor.h"
#include "policy/pollux/search_options.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: the simulator of Pollux (OSDI'21) as adapted for ElasticFlow. Every interval each job is
// moved on by the measured step times and gradients of its application; then GPUs are allocated
// again by the genetic search, from what has been learnt of each job so far. A job may have twice
// the GPUs it has been seen on. Deadlines are scored and never looked at.
//
// Behaviour reproduced: a job that is new, or whose GPUs change, does nothing for 30 s; ncf has one
// GPU and a batch of 32,768; at most 16 nodes and 64 GPUs for a job; a job is over after its last
// epoch, or, with `samples`, once it has seen as many samples as its trace counts; a job of age 0
// gains nothing from a start, since its restart factor is 0.
class PolluxAsCoded final : public SchedulingPolicy, public CompletionRule, private SpeedupSource {
 public:
  PolluxAsCoded(const SearchOptions& options, std::uint64_t seed, Seconds restart, bool samples)
      : search_(options, seed), restart_(restart), samples_(samples) {}

  SchedulingTraits traits() const override {
    return {.needs = kNeeds,
            .preemptive = true,
            .stable_between_events = false,
            .work_conserving = false,
            .resizes = true,
            .needs_periodic_turns = true,
            .optimises = true,
            .ends_jobs = true,
            .drives_completion = true,
            .keeps_truth = true,
            .needs_even_nodes = true,
            .reproduces_simulator = true,
            .pacing = "slots"};
  }
  CompletionRule* completion_rule() override { return this; }

  void on_job(JobMoment moment, Slot slot, const View& view) override {
    if (moment == JobMoment::kLeft) std::erase(order_, slot);
    if (moment != JobMoment::kAdmitted) return;
    if (jobs_.size() <= index(slot)) jobs_.resize(index(slot) + 1);
    const JobSpec& spec = view.jobs[slot].spec;
    State& job = jobs_[index(slot)];
    job = {};
    job.id = spec.id;
    job.submit = spec.submit;
    job.training = training_of(view.perf, spec);
    if (job.training != nullptr) {
      job.learner = GoodputLearner(*job.training, kMostNodes, kMostGpus);
      job.lone = job.training->name() == "ncf";
    }
    job.left = true_duration(spec);
    job.most = spec.most_gpus();
    // The artifact's jobs can all be resized; one that cannot runs as asked for or not at all.
    const int least = spec.least_gpus();
    job.least = least > 1 ? least : 0;
    if (samples_) job.samples_wanted = true_iterations(spec) * spec.batch_size;
    job.held.assign(view.cluster.node_count(), 0);
    order_.push_back(slot);
  }

  void complete_jobs(const View& view, std::vector<PolicyCompletion>& completions) override {
    if (!measured_) look_up_measurements(view);
    const Seconds passed = begun_ ? view.now - last_ : 0;
    begun_ = true;
    for (const Slot slot : order_) {
      State& job = jobs_[index(slot)];
      if (passed > 0) advance(job, last_, passed);
      if (job.done == kNever) continue;
      completions.push_back({slot, JobState::kFinished, Reason::kCompleted, job.done, job.done});
    }
    last_ = view.now;
  }

  void schedule(const View& view, Plan& plan) override {
    allocate(view);
    for (const Slot slot : order_) {
      const State& job = jobs_[index(slot)];
      if (job.gpus == 0) continue;
      plan.add(AllocationRequest::alone(slot, job.gpus));
      for (std::size_t n = 0; n < job.held.size(); ++n) {
        if (job.held[n] == 0) continue;
        plan.hint_node(slot, NodeId{static_cast<std::uint32_t>(n)}, job.held[n]);
      }
    }
  }
  bool checkpoint(Archive& archive) override {
    search_.checkpoint(archive);
    archive.value(begun_);
    archive.value(last_);
    archive.each(jobs_, [&archive](State& job) { checkpoint_job(archive, job); });
    archive.list(order_);
    measured_ = !archive.reading();
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<PolluxAsCoded>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
  static constexpr int kMostNodes = 16;
  static constexpr int kMostGpus = 64;
  static constexpr int kLoneBatch = 32768;

  struct State {
    JobId id = kNoJob;
    Seconds submit = 0;
    const Training* training = nullptr;
    GoodputLearner learner;
    bool lone = false;
    std::vector<int> held;       // by node
    std::vector<int> placement;  // the same without zeros
    int gpus = 0;
    BatchChoice batch;
    Seconds pause = 0;  // of a restart, still to come
    double progress = 0;
    int epoch = 0;
    double samples = 0;
    double samples_wanted = 0;  // 0: no such limit
    double attained = 0;        // GPU-seconds
    double left = 0;            // of its recorded duration, if it was not measured
    double rate = 1;
    int least = 0;  // 0: any number will do
    int most = 1;
    int restarts = -1;  // -1: never started
    Seconds done = kNever;
  };

  // What was measured of a job is in the performance model and is looked up again.
  static void checkpoint_job(Archive& archive, State& job) {
    archive.value(job.id);
    archive.value(job.submit);
    job.learner.checkpoint(archive);
    archive.value(job.lone);
    archive.list(job.held);
    archive.list(job.placement);
    archive.value(job.gpus);
    archive.value(job.batch);
    archive.value(job.pause);
    archive.value(job.progress);
    archive.value(job.epoch);
    archive.value(job.samples);
    archive.value(job.samples_wanted);
    archive.value(job.attained);
    archive.value(job.left);
    archive.value(job.rate);
    archive.value(job.least);
    archive.value(job.most);
    archive.value(job.restarts);
    archive.value(job.done);
  }
  void look_up_measurements(const View& view) {
    measured_ = true;
    for (const Slot slot : order_) {
      State& job = jobs_[index(slot)];
      job.training = training_of(view.perf, view.jobs[slot].spec);
      job.learner.learn_of(job.training);
    }
  }

  // What happens to a job between two turns.
  void advance(State& job, Seconds from, Seconds seconds) {
    if (job.gpus == 0) return;
    const Seconds delay = std::min(job.pause, seconds);
    Seconds time = from + delay;
    job.attained += delay * job.gpus;
    job.pause -= delay;
    seconds -= delay;
    if (job.training == nullptr) {
      advance_unmeasured(job, time, seconds);
      return;
    }
    const Training& training = *job.training;
    const int nodes = static_cast<int>(job.placement.size());
    while (seconds > 0 && job.done == kNever) {
      const int batch = job.batch.samples(job.gpus);
      const double scale = static_cast<double>(batch) / training.limits().initial;
      const auto step = training.step_time(job.placement, job.batch.local);
      const GradientNoise noise = training.noise(batch, job.epoch);
      job.learner.see(nodes, job.gpus, job.batch.local, step, noise);
      const double iteration = step.step + step.compute() * (job.batch.passes - 1);
      const double goodput = noise.gain(scale) / iteration;
      const double next = training.progress_after(job.epoch + 1);
      const bool ends_epoch = job.progress + goodput * seconds >= next;
      // Whole seconds up to the end of an epoch, as the artifact rounds them.
      const Seconds span = ends_epoch ? std::nearbyint((next - job.progress) / goodput) : seconds;
      const double seen = std::nearbyint(span / iteration) * batch;
      if (job.samples_wanted > 0 && job.samples + seen >= job.samples_wanted) {
        const double left = std::ceil((job.samples_wanted - job.samples) / batch);
        job.done = time + left * iteration;
        job.attained += left * iteration * job.gpus;
        break;
      }
      job.samples += seen;
      job.attained += span * job.gpus;
      time += span;
      seconds -= span;
      if (ends_epoch) {
        job.progress = next;
        ++job.epoch;
        if (job.epoch >= training.epochs()) job.done = time;
      } else {
        job.progress += goodput * span;
      }
      choose_batch(job);
    }
  }

  // A job whose application was not measured runs as the performance model says.
  static void advance_unmeasured(State& job, Seconds time, Seconds seconds) {
    const Seconds needed = job.left / job.rate;
    if (needed <= seconds) job.done = time + needed;
    job.left -= std::min(needed, seconds) * job.rate;
    job.attained += std::min(needed, seconds) * job.gpus;
  }

  static void choose_batch(State& job) {
    const BatchLimits& limits = job.training->limits();
    const int nodes = static_cast<int>(job.placement.size());
    if (job.lone) {
      job.batch = given_batch(limits, job.gpus, kLoneBatch);
    } else if (job.learner.knows_anything()) {
      job.batch = job.learner.best(nodes, job.gpus);
    } else {
      job.batch =
          given_batch(limits, job.gpus, std::max(limits.initial, limits.local_least * job.gpus));
    }
  }

  void allocate(const View& view) {
    by_service_ = order_;
    std::stable_sort(by_service_.begin(), by_service_.end(), [&](Slot a, Slot b) {
      const State& one = jobs_[index(a)];
      const State& other = jobs_[index(b)];
      return one.attained != other.attained ? one.attained < other.attained
                                            : one.submit < other.submit;
    });
    node_gpus_.resize(view.cluster.node_count());
    int total = 0;
    for (std::size_t n = 0; n < node_gpus_.size(); ++n) {
      node_gpus_[n] = view.cluster.usable_on(NodeId{static_cast<std::uint32_t>(n)});
      total += node_gpus_[n];
    }
    const auto count = static_cast<double>(by_service_.size());
    fair_ = std::max(1, static_cast<int>(std::ceil(total / count)));
    wants_.clear();
    base_.clear();
    for (const Slot slot : by_service_) {
      State& job = jobs_[index(slot)];
      SearchJob wants;
      wants.key = index(job.id);
      wants.least = job.least;
      wants.most = std::max(most_gpus(job), job.least);
      wants.held = job.held;
      const Seconds age = view.now - job.submit;
      wants.restart_factor =
          std::max(0.0, age - std::max(0, job.restarts) * restart_) / (age + restart_);
      wants_.push_back(std::move(wants));
      base_.push_back(job.learner.knows_anything() ? job.learner.goodput(1, fair_) : fair_);
    }
    const auto& table = search_.run(node_gpus_, wants_, *this);
    for (std::size_t j = 0; j < by_service_.size(); ++j) {
      State& job = jobs_[index(by_service_[j])];
      if (table[j] == job.held) continue;
      reallocate(job, table[j]);
      if (job.training != nullptr || job.gpus == 0) continue;
      RunContext context;
      context.gpus = job.gpus;
      context.nodes = static_cast<int>(job.placement.size());
      job.rate = view.perf.rate(view.jobs[by_service_[j]].spec, context);
    }
  }

  static int most_gpus(const State& job) {
    if (job.training == nullptr) return job.most;
    if (job.lone) return 1;
    const BatchLimits& limits = job.training->limits();
    return std::max(1, std::min({std::max(2 * job.learner.most_gpus_seen(), 1), kMostGpus,
                                 limits.most / limits.local_least}));
  }

  void reallocate(State& job, const std::vector<int>& by_node) {
    job.held = by_node;
    job.placement.clear();
    job.gpus = 0;
    for (const int gpus : by_node) {
      if (gpus == 0) continue;
      job.placement.push_back(gpus);
      job.gpus += gpus;
    }
    if (job.gpus == 0) return;
    if (job.training != nullptr) choose_batch(job);
    job.pause = restart_;
    ++job.restarts;
  }

  double speedup(std::size_t i, int nodes, int gpus) override {
    State& job = jobs_[index(by_service_[i])];
    const double speed = job.learner.knows_anything() ? job.learner.goodput(nodes, gpus) : gpus;
    return speed / base_[i];
  }

  AllocationSearch search_;
  Seconds restart_;
  bool samples_;
  bool begun_ = false;
  bool measured_ = true;  // what the performance model measured of the jobs is known
  Seconds last_ = 0;
  int fair_ = 1;
  std::vector<State> jobs_;  // by slot
  std::vector<Slot> order_;  // present, in order of arrival
  std::vector<Slot> by_service_;
  std::vector<int> node_gpus_;
  std::vector<SearchJob> wants_;
  std::vector<double> base_;  // goodput at the fair part
};

}  // namespace

PolicyInfo<SchedulingPolicy> pollux_as_coded_row() {
  return {"pollux-as-coded",
          "Pollux as coded in ElasticFlow's artifact: goodput is learnt while jobs run, and batch "
          "sizes follow it",
          "ElasticFlow, 2023",
          {kPopulation,
           kGenerations,
           kFairness,
           kRestartCost,
           {"samples", ParamKind::kFlag, "true",
            "end a job at the number of samples that its trace gives, at the latest"},
           kSeed},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<PolluxAsCoded>(
                search_options(params), static_cast<std::uint64_t>(params.integer("seed")),
                params.real("restart"), params.flag("samples"));
          },
          "Pollux",
          "the artifact of ElasticFlow"};
}

}  // namespace muster
