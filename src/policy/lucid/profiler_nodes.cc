#include "policy/lucid/profiler_nodes.h"

#include <cmath>

#include "policy/table.h"

namespace muster {
namespace {

bool idle(const View& view, NodeId node) {
  return view.cluster.up(node) && view.cluster.free_on(node) == view.cluster.node(node).gpus;
}

NodeId node_at(std::size_t i) { return NodeId{static_cast<std::uint32_t>(i)}; }

bool on_multiple(Seconds time, Seconds step) { return std::fmod(time, step) == 0; }
Seconds multiple_after(Seconds time, Seconds step) { return (std::floor(time / step) + 1) * step; }

class Profiler final : public ScalingPolicy {
 public:
  explicit Profiler(const ProfilerScaling& options) : options_(options) {}
  Needs needs() const override { return kNeeds; }
  std::vector<PowerRequest> scale(const View& view) override {
    const NodeId borrowed = borrowed_node(view);
    const std::size_t queue = view.jobs.waiting().size();
    if (borrowed == kNoNode) {
      const NodeId spare = spare_node(view);
      const bool wanted = queue > options_.long_queue && spare != kNoNode;
      if (wanted && on_multiple(view.now, options_.check_in)) return {{spare, true}};
    } else if (queue < options_.short_queue && idle(view, borrowed) &&
               on_multiple(view.now, options_.check_out) && quiet(view)) {
      return {{borrowed, false}};
    }
    return {};
  }
  Seconds wake(const View& view) const override {
    const NodeId borrowed = borrowed_node(view);
    const std::size_t queue = view.jobs.waiting().size();
    if (borrowed == kNoNode) {
      return queue > options_.long_queue ? multiple_after(view.now, options_.check_in) : kNever;
    }
    const bool may_go = queue < options_.short_queue && idle(view, borrowed);
    return may_go ? multiple_after(view.now, options_.check_out) : kNever;
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<ScalingPolicy> clone() const override {
    return std::make_unique<Profiler>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kForecast, "the spare node leaves as soon as it idles"}};
  NodeId borrowed_node(const View& view) const {
    for (std::size_t i = view.cluster.node_count(); i-- > 0;) {
      if (view.cluster.node(node_at(i)).spare && view.cluster.up(node_at(i))) return node_at(i);
    }
    return kNoNode;
  }
  NodeId spare_node(const View& view) const {
    for (std::size_t i = 0; i < view.cluster.node_count(); ++i) {
      if (view.cluster.node(node_at(i)).spare && !view.cluster.up(node_at(i))) return node_at(i);
    }
    return kNoNode;
  }
  bool quiet(const View& view) const {
    if (view.forecast == nullptr) return true;
    const std::span<const Forecast::Slot> next = view.forecast->next(view.now, options_.slots);
    double gpus = 0;
    for (const Forecast::Slot& slot : next) gpus += slot.gpus;
    return next.empty() || gpus / static_cast<double>(next.size()) <= options_.quiet_gpus;
  }

  ProfilerScaling options_;
};

class Donor final : public ScalingPolicy {
 public:
  explicit Donor(std::vector<ScalingEvent> events) : events_(std::move(events)) {}
  std::vector<PowerRequest> scale(const View& view) override {
    std::vector<PowerRequest> requests;
    for (; next_ < events_.size() && events_[next_].time <= view.now; ++next_) {
      if (events_[next_].borrowed) {
        give(view, requests);
      } else if (returned_ == kNoNode) {
        take_back(view, requests);
      }
    }
    return requests;
  }
  Seconds wake(const View&) const override {
    return next_ < events_.size() ? events_[next_].time : kNever;
  }
  bool checkpoint(Archive& archive) override {
    archive.value(next_);
    archive.value(returned_);
    archive.value(gave_);
    return true;
  }
  std::unique_ptr<ScalingPolicy> clone() const override { return std::make_unique<Donor>(*this); }

 private:
  void give(const View& view, std::vector<PowerRequest>& requests) {
    for (std::size_t i = view.cluster.node_count(); i-- > 0;) {
      if (!idle(view, node_at(i))) continue;
      requests.push_back({node_at(i), false});
      // Once a node of its own has left, the one that came back is the next to go: if it is busy,
      // it takes the place of the idle one that goes instead.
      if (node_at(i) == returned_ || gave_) returned_ = kNoNode;
      gave_ = true;
      return;
    }
  }
  void take_back(const View& view, std::vector<PowerRequest>& requests) {
    std::size_t last = view.cluster.node_count();
    while (last > 0 && !view.cluster.up(node_at(last - 1))) --last;
    // A new node stands behind all that are there: placement prefers earlier ones.
    for (std::size_t i = last; i < view.cluster.node_count(); ++i) {
      if (!view.cluster.node(node_at(i)).spare) continue;
      returned_ = node_at(i);
      requests.push_back({returned_, true});
      return;
    }
  }

  std::vector<ScalingEvent> events_;
  std::size_t next_ = 0;
  NodeId returned_ = kNoNode;  // the node that came back and may be asked for again
  bool gave_ = false;          // a node has left before
};

}  // namespace

std::unique_ptr<ScalingPolicy> make_profiler_scaling(const ProfilerScaling& options) {
  return std::make_unique<Profiler>(options);
}

PolicyInfo<ScalingPolicy> spare_under_backlog_row() {
  return {
      "spare-under-backlog",
      "a spare node joins the cluster while jobs pile up",
      "Lucid, 2023",
      {{"long_queue", ParamKind::kInteger, "10", "the node joins when more jobs than this wait", 0},
       {"short_queue", ParamKind::kInteger, "5",
        "the idle node leaves when fewer jobs than this wait", 0},
       {"check_in", ParamKind::kReal, "10", "seconds between two checks of the queue", 1},
       {"check_out", ParamKind::kReal, "100", "seconds between two checks of the forecast", 1},
       {"quiet_gpus", ParamKind::kReal, "40",
        "the node leaves only while the forecast has at most this many GPUs per slot", 0},
       {"slots", ParamKind::kInteger, "5", "number of forecast slots to consider", 1}},
      [](const Params& params) -> std::unique_ptr<ScalingPolicy> {
        ProfilerScaling options;
        options.long_queue = static_cast<std::size_t>(params.integer("long_queue"));
        options.short_queue = static_cast<std::size_t>(params.integer("short_queue"));
        options.check_in = params.real("check_in");
        options.check_out = params.real("check_out");
        options.quiet_gpus = params.real("quiet_gpus");
        options.slots = static_cast<int>(params.integer("slots"));
        return make_profiler_scaling(options);
      }};
}

std::unique_ptr<ScalingPolicy> make_donor_scaling(std::vector<ScalingEvent> events) {
  return std::make_unique<Donor>(std::move(events));
}

}  // namespace muster
