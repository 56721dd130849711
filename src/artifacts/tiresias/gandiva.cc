#include <algorithm>
#include <cmath>

#include "policy/table.h"

namespace muster {
namespace {

// Source: Gandiva (OSDI'18) as Tiresias' simulator has it. Nodes are put together into sets, each
// for jobs of one GPU count. A new job goes to the least loaded set of its class while that has
// room, else to a set of free nodes, else it takes turns with others in the least loaded set.
// Every turn the classes grow and shrink with their demand; on every full minute the jobs of a
// crowded set that ran go to the back of its line. Meant for pacing `steps` and placement `count`:
// the sets only say which jobs run.
class Gandiva final : public SchedulingPolicy {
 public:
  explicit Gandiva(const Params& params) : rotate_(params.real("rotate")) {}

  SchedulingTraits traits() const override {
    return {.preemptive = true,
            .stable_between_events = false,
            .work_conserving = false,
            .needs_periodic_turns = true};
  }

  void on_job(JobMoment moment, Slot slot, const View& view) override {
    if (moment == JobMoment::kAdmitted) {
      arrived_.push_back(slot);
    } else if (moment == JobMoment::kLeft) {
      std::erase(arrived_, slot);
      std::erase(pending_, slot);
      for (Set& set : class_of(view.jobs[slot].spec.gpus).sets) {
        std::replace(set.jobs.begin(), set.jobs.end(), slot, kNoSlot);
      }
    }
  }

  void schedule(const View& view, Plan& plan) override {
    count_nodes(view.cluster);
    const bool released = take_turns(view.now);
    for (const Slot slot : arrived_) {
      if (!hint_node(slot, view.jobs[slot].spec.gpus)) pending_.push_back(slot);
    }
    arrived_.clear();
    // The original removes jobs from the list that it iterates over, so it skips the job after each
    // one that got a node hint.
    for (std::size_t i = 0; released && i < pending_.size(); ++i) {
      const Slot slot = pending_[i];
      if (hint_node(slot, view.jobs[slot].spec.gpus)) std::erase(pending_, slot);
    }
    adjust();
    for (const Class& at : classes_) {
      for (const Set& set : at.sets) {
        for (std::size_t i = 0; i < runs_in(set); ++i) {
          plan.add(AllocationRequest::alone(set.jobs[i], at.gpus));
        }
      }
    }
  }

  bool checkpoint(Archive& archive) override {
    archive.value(node_size_);
    archive.value(free_nodes_);
    archive.value(gpus_);
    archive.each(classes_, [&](Class& at) {
      archive.value(at.gpus);
      archive.each(at.sets, [&](Set& set) {
        archive.value(set.nodes);
        archive.value(set.capacity);
        archive.value(set.load);
        archive.list(set.jobs);
      });
    });
    archive.list(arrived_);
    archive.list(pending_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Gandiva>(*this);
  }

 private:
  struct Set {
    int nodes = 0;
    int capacity = 0;        // jobs that run at a time
    int load = 0;            // jobs that were ever put here: it is never taken back
    std::vector<Slot> jobs;  // in line; kNoSlot: has just left
  };
  struct Class {
    int gpus = 0;
    std::vector<Set> sets;
  };

  // One of a set runs even where the set has no room for it.
  static std::size_t runs_in(const Set& set) {
    const auto room = static_cast<std::size_t>(std::max(1, set.capacity));
    return std::min(room, set.jobs.size());
  }

  Class& class_of(int gpus) {
    const auto at = std::lower_bound(classes_.begin(), classes_.end(), gpus,
                                     [](const Class& c, int g) { return c.gpus < g; });
    if (at != classes_.end() && at->gpus == gpus) return *at;
    return *classes_.insert(at, Class{gpus, {}});
  }

  void count_nodes(const ClusterState& cluster) {
    if (node_size_ > 0) return;
    for (std::size_t i = 0; i < cluster.node_count(); ++i) {
      node_size_ = std::max(node_size_, cluster.node(NodeId{static_cast<std::uint32_t>(i)}).gpus);
    }
    free_nodes_ = static_cast<int>(cluster.node_count());
    gpus_ = free_nodes_ * node_size_;
  }

  // Rotates and clears up; says whether nodes became free.
  bool take_turns(Seconds now) {
    const bool rotate = std::fmod(std::floor(now), rotate_) == 0;
    bool released = false;
    for (Class& at : classes_) {
      for (Set& set : at.sets) {
        const auto ran = static_cast<std::ptrdiff_t>(
            std::min(set.jobs.size(), static_cast<std::size_t>(set.capacity)));
        if (rotate && static_cast<std::ptrdiff_t>(set.jobs.size()) > ran) {
          // Where nothing fits, the first moves all the same.
          std::rotate(set.jobs.begin(), set.jobs.begin() + std::max<std::ptrdiff_t>(1, ran),
                      set.jobs.end());
        }
        std::erase(set.jobs, kNoSlot);
        if (!set.jobs.empty()) continue;
        free_nodes_ += set.nodes;
        released = true;
      }
      std::erase_if(at.sets, [](const Set& set) { return set.jobs.empty(); });
    }
    return released;
  }

  static void by_load(std::vector<Set>& sets) {
    std::stable_sort(sets.begin(), sets.end(),
                     [](const Set& a, const Set& b) { return a.load < b.load; });
  }

  static void put(Set& set, Slot slot) {
    ++set.load;
    set.jobs.push_back(slot);
  }

  Set new_set(int gpus) {
    Set set;
    set.nodes = (gpus + node_size_ - 1) / node_size_;
    set.capacity = set.nodes * node_size_ / gpus;
    free_nodes_ -= set.nodes;
    return set;
  }

  bool hint_node(Slot slot, int gpus) {
    std::vector<Set>& sets = class_of(gpus).sets;
    if (!sets.empty()) {
      // The least loaded goes to the end of the list, whether it takes the job or not.
      std::rotate(sets.begin(), sets.begin() + 1, sets.end());
      if (sets.back().load + 1 < sets.back().capacity) {
        put(sets.back(), slot);
        by_load(sets);
        return true;
      }
    }
    if ((gpus + node_size_ - 1) / node_size_ <= free_nodes_) {
      sets.push_back(new_set(gpus));
      put(sets.back(), slot);
      by_load(sets);
      return true;
    }
    if (sets.empty()) return false;
    put(sets.front(), slot);
    std::rotate(sets.begin(), sets.begin() + 1, sets.end());
    by_load(sets);
    return true;
  }

  void adjust() {
    std::vector<int> demand;
    std::vector<int> occupied;
    int total = 0;
    for (const Class& at : classes_) {
      std::size_t jobs = 0;
      int nodes = 0;
      for (const Set& set : at.sets) {
        jobs += set.jobs.size();
        nodes += set.nodes;
      }
      demand.push_back(static_cast<int>(jobs) * at.gpus);
      occupied.push_back(nodes * node_size_);
      total += demand.back();
    }
    if (total == 0) return;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      if (demand[i] == 0) continue;
      const int part = static_cast<int>(std::floor(static_cast<double>(demand[i]) / total * gpus_));
      const int change = std::min(part, demand[i]) - occupied[i];
      const int gpus = classes_[i].gpus;
      if (change > 0) grow(classes_[i], (change + gpus - 1) / gpus);
      if (change < 0) shrink(classes_[i], (-change + gpus - 1) / gpus);
    }
  }

  // Gives up sets from the front of the list, never the last one; their jobs go to the others.
  void shrink(Class& at, int sets) {
    sets = std::min(sets, static_cast<int>(at.sets.size()) - 1);
    if (sets <= 0) return;
    homeless_.clear();
    for (int i = 0; i < sets; ++i) {
      const Set& set = at.sets[static_cast<std::size_t>(i)];
      homeless_.insert(homeless_.end(), set.jobs.begin(), set.jobs.end());
      free_nodes_ += set.nodes;
    }
    at.sets.erase(at.sets.begin(), at.sets.begin() + sets);
    house(at);
  }

  // Adds sets while there are nodes, and deals the jobs of the class out anew.
  void grow(Class& at, int sets) {
    // The original reuses its counter: it deals out anew unless the last set got one node.
    bool anew = false;
    for (int i = 1; i <= sets; ++i) {
      anew = true;
      const int nodes = (at.gpus + node_size_ - 1) / node_size_;
      if (nodes > free_nodes_) continue;
      at.sets.push_back(new_set(at.gpus));
      anew = nodes > 1;
    }
    if (!anew) return;
    homeless_.clear();
    for (Set& set : at.sets) {
      homeless_.insert(homeless_.end(), set.jobs.begin(), set.jobs.end());
      if (set.jobs.empty()) continue;
      set.jobs.clear();
      set.load = 0;
    }
    house(at);
  }

  void house(Class& at) {
    for (const Slot slot : homeless_) {
      put(at.sets.front(), slot);
      by_load(at.sets);
    }
  }

  Seconds rotate_;
  int node_size_ = 0;
  int free_nodes_ = 0;
  int gpus_ = 0;
  std::vector<Class> classes_;  // by GPUs
  std::vector<Slot> arrived_;
  std::vector<Slot> pending_;
  std::vector<Slot> homeless_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> gandiva_row() {
  return {"gandiva-sets-as-coded",
          "a set of nodes for each GPU count, time-sliced among its jobs; for pacing steps",
          "Tiresias, 2019",
          {{"rotate", ParamKind::kReal, "60",
            "seconds of a time slice where a set has more jobs than GPUs", 1}},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<Gandiva>(params);
          },
          "Gandiva",
          "the simulator of Tiresias"};
}

}  // namespace muster
