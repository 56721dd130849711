// Gandiva as the ElasticFlow artifact has it: a pool of nodes per job size, jobs of a pool take
// turns on its nodes at the rhythm of arrivals.
#include <algorithm>
#include <array>
#include <cmath>

#include "artifacts/elasticflow/scheduler.h"
#include "policy/table.h"

namespace muster::published {
namespace {

class Gandiva final : public Scheduler {
 public:
  Gandiva() : Scheduler(Cap::kWidest) {}
  bool checkpoint(Archive& archive) override {
    for (Pool& pool : pools_) {
      archive.each(pool, [&archive](Set& set) {
        archive.list(set.jobs);
        archive.value(set.nodes);
        archive.value(set.capacity);
        archive.value(set.load);
      });
    }
    archive.list(running_);
    archive.list(pending_);
    archive.list(once_pending_);
    archive.value(free_nodes_);
    archive.value(begun_);
    return checkpoint_books(archive);
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Gandiva>(*this);
  }

 protected:
  void round() override {
    if (!begun_) free_nodes_ = nodes_;
    // Only rounds before the last arrival cost overhead; jobs that arrive now count.
    if (begun_ && !arrivals_.empty()) charge();
    begun_ = true;
    const bool released = execute();
    // A job that has waited outside is forgiven what it did not get round to paying.
    for (const Slot slot : once_pending_) job(slot).overhead = 0;
    for (const Slot slot : arrivals_) {
      if (!sized(job(slot).request)) {
        refuse(job(slot), Reason::kFragmented);
      } else if (place(slot)) {
        running_.push_back(slot);
      } else {
        pending_.push_back(slot);
        once_pending_.push_back(slot);
      }
    }
    if (released) place_pending();
    // The original does this at the start of the next round, before it counts which jobs have run
    // since.
    adjust();
    for (const auto& sets : pools_) {
      for (const Set& set : sets) {
        for (std::size_t i = 0; i < set.at_once(); ++i)
          run(job(set.jobs[i]), job(set.jobs[i]).request);
      }
    }
  }

 private:
  static constexpr std::array<int, 16> kSizes = {1,  2,  4,  8,  12, 16, 24,  32,
                                                 40, 48, 56, 64, 72, 88, 128, 256};
  struct Set {
    std::vector<Slot> jobs;
    int nodes = 0;
    std::size_t capacity = 0;
    int load = 0;  // jobs that ever came and were not spread again: those that end stay counted

    std::size_t at_once() const { return std::min(capacity, jobs.size()); }
  };
  using Pool = std::vector<Set>;

  static bool sized(int gpus) {
    return std::find(kSizes.begin(), kSizes.end(), gpus) != kSizes.end();
  }
  Pool& pool_of(int gpus) {
    return pools_[static_cast<std::size_t>(std::find(kSizes.begin(), kSizes.end(), gpus) -
                                           kSizes.begin())];
  }
  int nodes_for(int gpus) const { return (gpus + node_gpus_ - 1) / node_gpus_; }
  static void sort(Pool& pool) {
    std::stable_sort(pool.begin(), pool.end(),
                     [](const Set& a, const Set& b) { return a.load < b.load; });
  }
  static void add(Set& set, Slot slot) {
    set.jobs.push_back(slot);
    ++set.load;
  }
  void rotate(Pool& pool) { std::rotate(pool.begin(), pool.begin() + 1, pool.end()); }
  Set new_set(int gpus) {
    Set set;
    set.nodes = nodes_for(gpus);
    set.capacity = static_cast<std::size_t>(set.nodes * node_gpus_ / gpus);
    free_nodes_ -= set.nodes;
    return set;
  }

  void charge() {
    const bool restart = restart_due();
    for (const Slot slot : running_) {
      job(slot).overhead = overhead_of(job(slot).request, restart, false, cluster_gpus_);
    }
  }

  bool place(Slot slot) {
    const int gpus = job(slot).request;
    Pool& pool = pool_of(gpus);
    if (!pool.empty()) {
      Set& first = pool.front();
      const bool roomy = first.load + 1 < static_cast<int>(first.capacity);
      if (roomy) add(first, slot);
      rotate(pool);
      if (roomy) {
        sort(pool);
        return true;
      }
    }
    if (nodes_for(gpus) <= free_nodes_) {
      pool.push_back(new_set(gpus));
      add(pool.back(), slot);
      sort(pool);
      return true;
    }
    if (pool.empty()) return false;
    add(pool.front(), slot);
    rotate(pool);
    sort(pool);
    return true;
  }

  // A job that follows one that found a place is passed over, for the list shrinks under the walk.
  void place_pending() {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (!place(pending_[i])) continue;
      running_.push_back(pending_[i]);
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // Nodes follow demand.
  void adjust() {
    std::array<long long, kSizes.size()> demand{};
    std::array<long long, kSizes.size()> owned{};
    long long total = 0;
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      for (const Set& set : pools_[i]) {
        demand[i] += static_cast<long long>(set.jobs.size()) * kSizes[i];
        owned[i] += static_cast<long long>(set.nodes) * node_gpus_;
      }
      total += demand[i];
    }
    if (total == 0) return;
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      if (demand[i] == 0) continue;
      const auto fair = static_cast<long long>(
          std::floor(static_cast<double>(demand[i]) / static_cast<double>(total) * cluster_gpus_));
      const long long difference = std::min(fair, demand[i]) - owned[i];
      const auto sets = (std::abs(difference) + kSizes[i] - 1) / kSizes[i];
      if (difference > 0) expand(kSizes[i], pools_[i], sets);
      if (difference < 0) shrink(pools_[i], sets);
    }
  }

  void expand(int gpus, Pool& pool, long long sets) {
    // Whether jobs are spread again depends on a variable that two loops share: not if the last set
    // was made and has one node.
    bool spread = false;
    for (long long i = 0; i < sets; ++i) {
      const bool room = nodes_for(gpus) <= free_nodes_;
      if (room) pool.push_back(new_set(gpus));
      spread = !room || nodes_for(gpus) > 1;
    }
    if (!spread) return;
    std::vector<Slot> all;
    for (Set& set : pool) {
      all.insert(all.end(), set.jobs.begin(), set.jobs.end());
      set.jobs.clear();
      set.load = 0;
    }
    for (const Slot slot : all) {
      add(pool.front(), slot);
      sort(pool);
    }
  }

  void shrink(Pool& pool, long long sets) {
    const long long most = std::min<long long>(sets, static_cast<long long>(pool.size()) - 1);
    std::vector<Slot> homeless;
    for (long long i = 0; i < most; ++i) {
      const Set& first = pool.front();
      homeless.insert(homeless.end(), first.jobs.begin(), first.jobs.end());
      free_nodes_ += first.nodes;
      pool.erase(pool.begin());
    }
    for (const Slot slot : homeless) {
      add(pool.front(), slot);
      sort(pool);
    }
  }

  // Runs what was on the GPUs since the last round. True if a set became empty.
  bool execute() {
    const Seconds span = std::trunc(now_ - last_);
    constexpr Seconds kMinute = 60;
    const bool take_turns = std::fmod(std::trunc(now_), kMinute) == 0;
    bool released = false;
    for (Pool& pool : pools_) {
      for (Set& set : pool) {
        const std::size_t at_once = set.at_once();
        std::vector<Slot> over;
        for (std::size_t i = 0; i < at_once; ++i) {
          Job& j = job(set.jobs[i]);
          j.executed += std::max(span - j.overhead, 0.0);
          j.overhead = 0;
          if (j.executed >= j.duration) over.push_back(set.jobs[i]);
        }
        if (take_turns && set.jobs.size() > at_once) {
          std::rotate(set.jobs.begin(), set.jobs.begin() + static_cast<std::ptrdiff_t>(at_once),
                      set.jobs.end());
        }
        for (const Slot slot : over) {
          const Seconds end = now_ - (job(slot).executed - job(slot).duration);
          finish(job(slot), end, end);
          std::erase(set.jobs, slot);
          std::erase(running_, slot);
          std::erase(once_pending_, slot);
        }
        if (set.jobs.empty()) {
          free_nodes_ += set.nodes;
          released = true;
        }
      }
      std::erase_if(pool, [](const Set& set) { return set.jobs.empty(); });
    }
    return released;
  }

  std::array<Pool, kSizes.size()> pools_;
  std::vector<Slot> running_;
  std::vector<Slot> pending_;
  std::vector<Slot> once_pending_;
  int free_nodes_ = 0;
  bool begun_ = false;
};

}  // namespace
}  // namespace muster::published

namespace muster {

PolicyInfo<SchedulingPolicy> published_gandiva_row() {
  return {"gandiva-as-coded",
          "Gandiva as coded in ElasticFlow's artifact: nodes for each job size, time-sliced when "
          "jobs arrive",
          "ElasticFlow, 2023",
          {},
          [](const Params&) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<published::Gandiva>();
          },
          "Gandiva",
          "the artifact of ElasticFlow"};
}

}  // namespace muster
