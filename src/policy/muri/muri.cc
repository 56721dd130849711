#include <algorithm>
#include <cmath>

#include "policy/muri/group_rounds.h"
#include "policy/placement/node_fit.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: Muri (SIGCOMM'22). Jobs in order of priority, as many as four clusters could hold, are
// grouped to be interleaved on the same GPUs until they fit. Muri-S knows durations and ranks by
// remaining GPU-time; Muri-L ranks by attained GPU-time. The list keeps its order from turn to
// turn, and ties keep theirs in it.
//
// With queues, Muri-L ranks as Tiresias does: by queue, and in a queue running jobs stay in front.
class Muri final : public SchedulingPolicy {
 public:
  explicit Muri(const Params& params)
      : by_remaining_(params.text("priority") == "remaining"),
        dissolve_(params.flag("dissolve")),
        largest_(static_cast<int>(params.integer("largest_group"))),
        rounds_({.largest = largest_,
                 .matching = params.text("grouping") == "matching",
                 .least_efficiency = params.real("least_efficiency"),
                 .memory_mb = params.real("memory_mb"),
                 .noise = params.real("noise"),
                 .seed = static_cast<std::uint64_t>(params.integer("seed"))}) {
    limits_ = params.reals("queues");
    if (!limits_.empty()) lines_.resize(limits_.size() + 1);
  }

  SchedulingTraits traits() const override {
    return {.needs = by_remaining_ ? Needs(kNeeds) : Needs(kNeeds).first(1),
            .preemptive = true,
            .stable_between_events = false,
            .work_conserving = false,
            .co_locates = true,
            .regroups = true,
            .needs_periodic_turns = true,
            .ranks_jobs = true};
  }

  void on_job(JobMoment moment, Slot slot, const View& view) override {
    if (moment == JobMoment::kLeft) {
      std::erase(list_, slot);
      if (!lines_.empty()) std::erase(lines_[states_[index(slot)].line], slot);
      return;
    }
    if (moment != JobMoment::kAdmitted) return;
    if (states_.size() <= index(slot)) states_.resize(index(slot) + 1);
    if (const Interleaving* rule = view.perf.knowledge().interleaving) rounds_.use(*rule);
    const JobSpec& spec = view.jobs[slot].spec;
    states_[index(slot)] = {};
    states_[index(slot)].gpus = spec.gpus;
    const WorkloadProfile* known = profile_of(view.perf, spec.model);
    states_[index(slot)].profile = rounds_.profile(spec, known != nullptr ? known->memory_mb : 0);
    states_[index(slot)].last = view.now;
    list_.push_back(slot);
    if (!lines_.empty()) lines_[0].push_back(slot);
  }

  void schedule(const View& view, Plan& plan) override {
    account(view);
    if (lines_.empty()) {
      sort_list([this](Slot slot) { return states_[index(slot)].value; });
      walk_ = list_;
    } else {
      line_up(view);
    }
    choose(view);
    const auto& groups = rounds_.plan(buckets_, needed_, view.cluster.usable_gpus());
    rank(groups);
    if (dissolve_) keep_what_fits(view);
    allocate(plan);
  }

  // With queues: the next time a running job outgrows its queue, in whole seconds of service.
  Seconds wake(const View& view) const override {
    Seconds next = kNever;
    for (const Slot slot : view.jobs.running()) {
      const State& state = states_[index(slot)];
      if (state.line >= limits_.size()) continue;
      const double seconds = std::ceil(limits_[state.line] / state.gpus);
      next = std::min(next, seconds - state.attained + view.now);
    }
    return next;
  }

  bool checkpoint(Archive& archive) override {
    rounds_.checkpoint(archive);
    archive.list(list_);
    archive.list(walk_);
    archive.lists(lines_);
    archive.list(states_);
    archive.value(needed_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override { return std::make_unique<Muri>(*this); }

 private:
  // The last one only where it ranks by remaining time.
  static constexpr Need kNeeds[] = {
      {Knowledge::kStageTimes, "such a job shares its GPUs with no other"}, {Knowledge::kDuration}};
  struct State {
    double value = 0;     // of the priority: smaller first
    double attained = 0;  // seconds it held GPUs
    Seconds last = 0;
    int gpus = 0;
    int profile = 0;
    int group = -1;  // in ranked_
    std::size_t bucket = 0;
    std::size_t line = 0;  // its queue
    bool ran = false;
    bool chosen = false;
  };
  struct Ranked {
    AllocationRequest request;
    double value = 0;
    bool kept = true;
    bool added = false;
  };

  void account(const View& view) {
    for (const Slot slot : list_) {
      State& state = states_[index(slot)];
      const Job& job = view.jobs[slot];
      if (job.running()) {
        state.attained = state.attained + view.now - state.last;
        state.ran = true;
      }
      state.last = view.now;
      state.group = -1;
      state.chosen = false;
      if (!by_remaining_) {
        state.value = state.attained * state.gpus;
      } else if (job.running()) {
        state.value = job.remaining_at(view.now) * state.gpus;
      } else if (!state.ran) {
        state.value = job.spec.duration * state.gpus;
      }
    }
  }

  // Waiting jobs step behind running ones; then, in the order of the list, each job that has
  // outgrown its queue goes to the end of the next. Ranks are places in the line.
  void line_up(const View& view) {
    for (std::vector<Slot>& line : lines_) {
      std::stable_partition(line.begin(), line.end(),
                            [&view](Slot slot) { return view.jobs[slot].running(); });
    }
    for (const Slot slot : list_) {
      State& state = states_[index(slot)];
      if (!view.jobs[slot].running() || state.line == limits_.size()) continue;
      if (state.attained * state.gpus < limits_[state.line]) continue;
      std::erase(lines_[state.line], slot);
      lines_[++state.line].push_back(slot);
    }
    walk_.clear();
    for (const std::vector<Slot>& line : lines_)
      walk_.insert(walk_.end(), line.begin(), line.end());
    for (std::size_t i = 0; i < walk_.size(); ++i) {
      states_[index(walk_[i])].value = static_cast<double>(i);
    }
  }

  template <typename Key>
  void sort_list(Key key) {
    order_.clear();
    for (const Slot slot : list_) order_.emplace_back(key(slot), slot);
    std::stable_sort(order_.begin(), order_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < list_.size(); ++i) list_[i] = order_[i].second;
  }

  // Of each GPU count (partition, GPU type) the first jobs, `largest_` for every one that would fit
  // an empty cluster.
  void choose(const View& view) {
    fit_.reset(view.cluster);
    buckets_.clear();
    queues_.clear();
    for (const Slot slot : walk_) {
      State& state = states_[index(slot)];
      const JobSpec& spec = view.jobs[slot].spec;
      const auto queue = std::find_if(queues_.begin(), queues_.end(), [&](const Queue& q) {
        return q.gpus == spec.gpus && q.partition == spec.partition && q.gpu_type == spec.gpu_type;
      });
      state.bucket = static_cast<std::size_t>(queue - queues_.begin());
      if (queue == queues_.end()) {
        queues_.push_back({spec.gpus, spec.partition, spec.gpu_type, 0, false, {}});
      }
      queues_[state.bucket].jobs.push_back(slot);
    }
    needed_ = 0;
    for (const Slot slot : walk_) {
      if (fit_.free() == 0) break;
      const State& state = states_[index(slot)];
      if (state.chosen) continue;
      Queue& queue = queues_[state.bucket];
      const auto pools = view.cluster.pools_for(queue.partition, queue.gpu_type);
      if (queue.full || !fit_.take(state.gpus, pools)) {
        queue.full = true;
        continue;
      }
      for (int i = 0; i < largest_ && queue.cursor < queue.jobs.size(); ++i) {
        states_[index(queue.jobs[queue.cursor++])].chosen = true;
      }
    }
    for (const Queue& queue : queues_) {
      GroupRounds::Bucket bucket{queue.gpus, {}};
      for (std::size_t i = 0; i < queue.cursor; ++i) {
        bucket.members.push_back({queue.jobs[i], states_[index(queue.jobs[i])].profile});
      }
      needed_ += static_cast<long long>(queue.cursor) * queue.gpus;
      buckets_.push_back(std::move(bucket));
    }
  }

  void add(const GroupRounds::Group& group, int first, int count) {
    Ranked ranked;
    ranked.value = kNever;
    ranked.request.gpus = buckets_[static_cast<std::size_t>(group.bucket)].gpus;
    for (int i = first; i < first + count; ++i) {
      const Slot slot = group.members[static_cast<std::size_t>(i)].slot;
      ranked.request.join(slot);
      ranked.value = std::min(ranked.value, states_[index(slot)].value);
    }
    ranked_.push_back(ranked);
  }

  void rank(const std::vector<GroupRounds::Group>& groups) {
    ranked_.clear();
    for (const GroupRounds::Group& group : groups) {
      if (dissolve_ && group.size > 1 && rounds_.slower_than_serial(group)) {
        for (int i = 0; i < group.size; ++i) add(group, i, 1);
      } else {
        add(group, 0, group.size);
      }
    }
  }

  void keep_what_fits(const View& view) {
    std::stable_sort(ranked_.begin(), ranked_.end(),
                     [](const Ranked& a, const Ranked& b) { return a.value < b.value; });
    fit_.reset(view.cluster);
    for (Ranked& ranked : ranked_) {
      const JobSpec& spec = view.jobs[ranked.request.lead()].spec;
      const auto pools = view.cluster.pools_for(spec.partition, spec.gpu_type);
      ranked.kept = fit_.take(ranked.request.gpus, pools);
    }
  }

  // Large jobs first, so that they find whole nodes.
  void allocate(Plan& plan) {
    for (std::size_t i = 0; i < ranked_.size(); ++i) {
      const AllocationRequest& request = ranked_[i].request;
      for (int j = 0; j < request.size; ++j) {
        if (ranked_[i].kept) {
          states_[index(request.jobs[static_cast<std::size_t>(j)])].group = static_cast<int>(i);
        }
      }
    }
    sort_list([this](Slot slot) { return -static_cast<double>(states_[index(slot)].gpus); });
    for (const Slot slot : list_) {
      const int group = states_[index(slot)].group;
      if (group < 0) continue;
      plan.rank(slot);
      Ranked& ranked = ranked_[static_cast<std::size_t>(group)];
      if (ranked.added) continue;
      ranked.added = true;
      plan.add(ranked.request);
    }
  }

  // Jobs that could share GPUs, in order.
  struct Queue {
    int gpus;
    Symbol partition;
    Symbol gpu_type;
    std::size_t cursor;
    bool full;
    std::vector<Slot> jobs;
  };

  bool by_remaining_;
  bool dissolve_;
  int largest_;
  GroupRounds rounds_;
  NodeFit fit_;
  std::vector<Slot> list_;
  std::vector<Slot> walk_;                // the same in order of priority
  std::vector<double> limits_;            // of the queues, where there are any
  std::vector<std::vector<Slot>> lines_;  // the queues
  std::vector<State> states_;             // by slot
  std::vector<std::pair<double, Slot>> order_;
  std::vector<Queue> queues_;
  std::vector<GroupRounds::Bucket> buckets_;
  std::vector<Ranked> ranked_;
  long long needed_ = 0;
};

}  // namespace

PolicyInfo<SchedulingPolicy> muri_row() {
  return {
      "muri",
      "groups of jobs whose stages interleave well on the same GPUs, by remaining or attained GPU "
      "time",
      "Muri, 2022",
      {{"priority",
        ParamKind::kText,
        "attained",
        "rank jobs by remaining GPU time (Muri-S) or attained GPU time (Muri-L)",
        -1,
        1,
        {"attained", "remaining"}},
       {"largest_group", ParamKind::kInteger, "4", "largest number of jobs on the same GPUs", 1, 4},
       {"grouping",
        ParamKind::kText,
        "matching",
        "group by maximum-weight matching on efficiency, or take neighbours in the queue",
        -1,
        1,
        {"matching", "neighbours"}},
       {"dissolve", ParamKind::kFlag, "true",
        "split groups that are slower than running their members one after another"},
       {"least_efficiency", ParamKind::kReal, "0",
        "fraction of one resource that a group must keep busy per job", 0, 1},
       {"queues", ParamKind::kReals, "",
        "rank by queues of attained GPU-seconds with these limits, as in 3250,7200; empty: no "
        "queues",
        0},
       {"memory_mb", ParamKind::kReal, "0",
        "memory of a GPU in MB; jobs that exceed it together are not grouped; 0: not checked", 0},
       {"noise", ParamKind::kReal, "0",
        "largest relative error of the stage durations that the policy sees", 0, 0.99},
       kSeed},
      [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
        return std::make_unique<Muri>(params);
      }};
}

}  // namespace muster
