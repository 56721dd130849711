#include "fake_run.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace muster {
namespace {

// Numerical Recipes' generator: enough for a made-up workload, and the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : state_(seed) {}
  double roll() {
    state_ = state_ * 1664525U + 1013904223U;
    return (static_cast<double>(state_ >> 8U) + 0.5) / 16777216.0;
  }

 private:
  std::uint32_t state_;
};

struct Active {
  JobRecord record;
  double remaining = 0;
  Seconds waiting_since = 0;
  Seconds started = 0;
  GpuSet gpus;
  bool running = false;
};

class Player {
 public:
  Player(const FakeRun& run, Symbols& symbols, Observer& observer)
      : run_(run), observer_(observer), free_(static_cast<std::size_t>(run.nodes), node_mask()) {
    Dice dice(run.seed);
    Seconds time = 0;
    for (int i = 0; i < run.jobs; ++i) {
      time += tidy(-std::log(dice.roll()) * run.mean_gap);
      Active job;
      job.record.id = JobId{static_cast<std::uint32_t>(i)};
      job.record.name = i % 3 == 0 ? "" : "app-" + std::to_string(1000 + i);
      job.record.submit = time;
      job.record.arrival = time;
      job.record.duration = std::max(1.0, tidy(std::exp(4 + 5 * dice.roll())));
      const double size = dice.roll();
      job.record.gpus = size < 0.55 ? 1 : size < 0.7 ? 2 : size < 0.85 ? 4 : size < 0.96 ? 8 : 16;
      if (run.refuse_every > 0 && i % run.refuse_every == run.refuse_every - 1)
        job.record.gpus = 4096;
      job.record.user = symbols.intern("user" + std::to_string(i * 7 % 5));
      job.record.partition = symbols.intern(i % 4 == 0 ? "research" : "production");
      job.record.model = symbols.intern("resnet50");
      if (i % 5 == 0) job.record.deadline = time + 3 * job.record.duration;
      job.remaining = job.record.duration;
      future_.push_back(job);
    }
  }

  std::vector<JobRecord> play() {
    std::size_t next = 0;
    while (next < future_.size() || !active_.empty()) {
      Seconds soonest = next < future_.size() ? future_[next].record.submit : kNever;
      for (const Active& job : active_) {
        if (job.running) soonest = std::min(soonest, job.started + job.remaining);
      }
      turn_.previous = first_turn_ ? soonest : now_;
      first_turn_ = false;
      now_ = soonest;
      turn_.stops = 0;
      finish_jobs();
      while (next < future_.size() && future_[next].record.submit <= now_) submit(future_[next++]);
      if (run_.shortest_first) preempt();
      start_jobs();
      tell_turn();
    }
    return ended_;
  }

 private:
  double tidy(double value) const { return run_.whole_seconds ? std::round(value) : value; }
  std::uint64_t node_mask() const {
    return (std::uint64_t{1} << static_cast<unsigned>(run_.gpus_per_node)) - 1;
  }
  int total() const { return run_.nodes * run_.gpus_per_node; }

  int free_gpus() const {
    int sum = 0;
    for (const std::uint64_t mask : free_) sum += std::popcount(mask);
    return sum;
  }

  void decide(Action action, Reason reason, JobId job, int gpus, JobId other = kNoJob,
              int detail = 0) {
    observer_.on_decision({now_, job, other, gpus, detail, action, reason});
  }

  void leave(Active& job, JobState status, Reason reason) {
    job.record.end = now_;
    job.record.status = status;
    job.record.reason = reason;
    ended_.push_back(job.record);
    observer_.on_job_end(job.record);
  }

  void give_back(Active& job) {
    for (int i = 0; i < job.gpus.nodes(); ++i) free_[index(job.gpus[i].node)] |= job.gpus[i].mask;
    job.record.gpu_seconds += (now_ - job.started) * job.gpus.gpus();
    job.gpus.clear();
    job.running = false;
  }

  void finish_jobs() {
    for (Active& job : active_) {
      if (!job.running || job.started + job.remaining > now_) continue;
      give_back(job);
      job.remaining = 0;
      decide(Action::kFinish, Reason::kCompleted, job.record.id, job.record.gpus);
      leave(job, JobState::kFinished, Reason::kCompleted);
    }
    std::erase_if(active_, [](const Active& job) { return job.remaining == 0; });
  }

  void submit(Active job) {
    decide(Action::kSubmit, Reason::kArrived, job.record.id, job.record.gpus);
    if (job.record.gpus > total()) {
      decide(Action::kRefuse, Reason::kNeverFits, job.record.id, job.record.gpus);
      leave(job, JobState::kRefused, Reason::kNeverFits);
      return;
    }
    decide(Action::kAdmit, Reason::kAccepted, job.record.id, job.record.gpus);
    job.waiting_since = now_;
    active_.push_back(job);
  }

  double remaining(const Active& job) const {
    return job.remaining - (job.running ? now_ - job.started : 0);
  }

  void order() {
    std::stable_sort(active_.begin(), active_.end(), [&](const Active& a, const Active& b) {
      return run_.shortest_first && remaining(a) != remaining(b) ? remaining(a) < remaining(b)
                                                                 : a.record.id < b.record.id;
    });
  }

  // Stops the running jobs that the order leaves no room for.
  void preempt() {
    order();
    int room = total();
    JobId winner = kNoJob;
    for (Active& job : active_) {
      if (job.record.gpus <= room) {
        room -= job.record.gpus;
        if (!job.running) winner = job.record.id;
      } else if (job.running) {
        job.remaining = remaining(job);
        give_back(job);
        job.waiting_since = now_;
        ++job.record.preemptions;
        ++turn_.stops;
        decide(Action::kStop, Reason::kOutranked, job.record.id, job.record.gpus, winner);
      }
    }
  }

  void start_jobs() {
    order();
    const Active* blocked = nullptr;
    for (Active& job : active_) {
      if (job.running) continue;
      if (job.record.gpus > free_gpus()) {
        if (blocked == nullptr) blocked = &job;
        if (!run_.shortest_first) break;
        continue;
      }
      start(job, blocked == nullptr ? Reason::kFirstInOrder : Reason::kBackfilled);
    }
    if (blocked == nullptr) {
      block_job_ = kNoJob;
    } else if (blocked->record.id != block_job_ || free_gpus() != block_free_) {
      block_job_ = blocked->record.id;
      block_free_ = free_gpus();
      decide(Action::kBlock, Reason::kNotEnoughFree, block_job_, blocked->record.gpus, kNoJob,
             block_free_);
    }
  }

  void start(Active& job, Reason reason) {
    int wanted = job.record.gpus;
    for (std::size_t node = 0; node < free_.size() && wanted > 0; ++node) {
      const std::uint64_t mask =
          lowest_bits(free_[node], std::min(wanted, std::popcount(free_[node])));
      if (mask == 0) continue;
      free_[node] ^= mask;
      wanted -= std::popcount(mask);
      job.gpus.add(NodeId{static_cast<std::uint32_t>(node)}, mask);
    }
    job.running = true;
    job.started = now_;
    job.record.queue += now_ - job.waiting_since;
    job.record.start = std::min(job.record.start, now_);
    const Decision decision{now_, job.record.id,  kNoJob, job.record.gpus,
                            0,    Action::kStart, reason};
    observer_.on_decision(decision);
    observer_.on_placement(decision, job.gpus);
  }

  void tell_turn() {
    turn_.time = now_;
    turn_.running = turn_.waiting = turn_.demanded_gpus = 0;
    for (const Active& job : active_) {
      ++(job.running ? turn_.running : turn_.waiting);
      turn_.demanded_gpus += job.record.gpus;
    }
    turn_.usable_gpus = total();
    turn_.used_gpus = total() - free_gpus();
    observer_.on_turn(turn_);
  }

  FakeRun run_;
  Observer& observer_;
  std::vector<std::uint64_t> free_;
  std::vector<Active> future_;
  std::vector<Active> active_;
  std::vector<JobRecord> ended_;
  TurnStats turn_;
  Seconds now_ = 0;
  bool first_turn_ = true;
  JobId block_job_ = kNoJob;
  int block_free_ = -1;
};

}  // namespace

std::vector<JobRecord> play(const FakeRun& run, Symbols& symbols, Observer& observer) {
  return Player(run, symbols, observer).play();
}

}  // namespace muster
