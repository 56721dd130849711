#include "reference/plain_simulator.h"

#include <algorithm>
#include <string_view>

namespace muster {
namespace {

constexpr int kNobody = -1;

class PlainSimulator {
 public:
  PlainSimulator(int gpus, const std::vector<PlainJob>& jobs, const PlainRules& rules)
      : rules_(rules), owner_(static_cast<std::size_t>(gpus), kNobody) {
    for (const PlainJob& job : jobs) states_.push_back({job, job.seconds});
    schedule_.chart.resize(owner_.size());
  }

  PlainSchedule run() {
    while (true) {
      const bool ended = end_jobs();
      if (std::all_of(states_.begin(), states_.end(), [](const State& s) { return s.left; })) break;
      const bool arrived = hear_arrivals();
      if (rules_.round > 0 ? now_ % rules_.round == 0 : ended || arrived || quantum_is_over()) {
        decide();
      }
      work();
      ++now_;
    }
    for (const State& state : states_) schedule_.jobs.push_back(state.outcome);
    return schedule_;
  }

 private:
  struct State {
    PlainJob job;
    long remaining;
    long service = 0;  // GPU-seconds
    long setup = 0;    // seconds until it makes progress
    bool here = false;
    bool running = false;
    bool left = false;
    PlainOutcome outcome = {};
    bool waiting() const { return here && !running && !left; }
  };

  bool end_jobs() {
    if (rules_.round > 0 && now_ % rules_.round != 0) return false;
    bool any = false;
    for (State& state : states_) {
      if (!state.running || state.remaining > 0) continue;
      give_back(state);
      state.left = true;
      state.outcome.end = now_;
      any = true;
    }
    return any;
  }

  bool hear_arrivals() {
    bool any = false;
    for (State& state : states_) {
      if (state.here || state.job.arrival > now_) continue;
      state.here = true;
      any = true;
    }
    return any;
  }

  bool quantum_is_over() const {
    return rules_.quantum > 0 && now_ == decided_ + rules_.quantum &&
           std::any_of(states_.begin(), states_.end(),
                       [](const State& state) { return state.waiting(); });
  }

  // Those who may hold GPUs from now on, the first in order first.
  std::vector<std::size_t> candidates() const {
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (states_[i].waiting() || (rules_.preempt && states_[i].running)) list.push_back(i);
    }
    const auto key = [this](std::size_t i) {
      const State& state = states_[i];
      switch (rules_.order) {
        case PlainOrder::kShortestRemaining:
          return state.remaining;
        case PlainOrder::kLeastService:
          return state.service;
        case PlainOrder::kArrival:
          return state.job.arrival;
      }
      return 0L;
    };
    // Equal ones keep the order in which they came.
    std::stable_sort(list.begin(), list.end(),
                     [&key](std::size_t a, std::size_t b) { return key(a) < key(b); });
    return list;
  }

  void decide() {
    decided_ = now_;
    // Where jobs may be pushed out all GPUs are to be had, otherwise the free ones.
    auto room = rules_.preempt ? static_cast<long>(owner_.size())
                               : std::count(owner_.begin(), owner_.end(), kNobody);
    std::vector<std::size_t> chosen;
    for (const std::size_t i : candidates()) {
      if (states_[i].job.gpus <= room) {
        room -= states_[i].job.gpus;
        chosen.push_back(i);
      } else if (!rules_.backfill) {
        break;
      }
    }
    for (std::size_t i = 0; rules_.preempt && i < states_.size(); ++i) {
      const bool stays = std::find(chosen.begin(), chosen.end(), i) != chosen.end();
      if (!states_[i].running || stays) continue;
      give_back(states_[i]);
      ++states_[i].outcome.preemptions;
    }
    for (const std::size_t i : chosen) {
      if (!states_[i].running) start(i);
    }
  }

  // On the free GPUs with the lowest numbers.
  void start(std::size_t i) {
    State& state = states_[i];
    int missing = state.job.gpus;
    for (int& owner : owner_) {
      if (missing == 0 || owner != kNobody) continue;
      owner = static_cast<int>(i);
      --missing;
    }
    state.running = true;
    state.setup = state.outcome.start < 0 ? 0 : rules_.restart;
    if (state.outcome.start < 0) state.outcome.start = now_;
  }

  void give_back(State& state) {
    state.running = false;
    const auto mine = static_cast<int>(&state - states_.data());
    std::replace(owner_.begin(), owner_.end(), mine, kNobody);
  }

  // A second goes by.
  void work() {
    for (State& state : states_) {
      if (!state.running) continue;
      state.service += state.job.gpus;
      if (state.setup > 0) {
        --state.setup;
      } else if (state.remaining > 0) {
        --state.remaining;
      }
    }
    for (std::size_t gpu = 0; gpu < owner_.size(); ++gpu) {
      const int owner = owner_[gpu];
      schedule_.chart[gpu] += owner == kNobody ? '.' : letter_of(static_cast<std::size_t>(owner));
    }
  }

  PlainRules rules_;
  std::vector<State> states_;
  std::vector<int> owner_;  // by GPU
  long now_ = 0;
  long decided_ = 0;
  PlainSchedule schedule_;
};

}  // namespace

char letter_of(std::size_t job) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  return kLetters[job % kLetters.size()];
}

PlainSchedule simulate_plainly(int gpus, const std::vector<PlainJob>& jobs,
                               const PlainRules& rules) {
  return PlainSimulator(gpus, jobs, rules).run();
}

}  // namespace muster
