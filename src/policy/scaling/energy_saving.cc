#include "policy/scaling/energy_saving.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "policy/table.h"

namespace muster {
namespace {

constexpr int kWarmUp = 6;  // steps before the rule has a past to look at

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

class Saver final : public ScalingPolicy {
 public:
  explicit Saver(const EnergySaving& options) : options_(options), control_(options) {}

  Needs needs() const override { return kNeeds; }
  std::vector<PowerRequest> scale(const View& view) override {
    // Work that waits does not wait for the next step.
    const int needed = nodes_needed(view);
    const bool on_step = std::fmod(view.now, options_.step) == 0;
    if (!on_step && needed <= awake(view)) return {};
    return requests(view, control_.step(needed, nodes_ahead(view)));
  }
  Seconds wake(const View& view) const override {
    return (std::floor(view.now / options_.step) + 1) * options_.step;
  }
  bool checkpoint(Archive& archive) override {
    control_.checkpoint(archive);
    return true;
  }
  std::unique_ptr<ScalingPolicy> clone() const override { return std::make_unique<Saver>(*this); }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kNodeForecast, "demand is expected to stay as it is"}};
  static int awake(const View& view) {
    int count = 0;
    for (std::size_t i = 0; i < view.cluster.node_count(); ++i) {
      count += view.cluster.up(NodeId{static_cast<std::uint32_t>(i)}) ? 1 : 0;
    }
    return count;
  }
  // Nodes in use, and those that the waiting jobs would fill.
  static int nodes_needed(const View& view) {
    int used = 0;
    int largest = 1;
    for (std::size_t i = 0; i < view.cluster.node_count(); ++i) {
      const NodeId node{static_cast<std::uint32_t>(i)};
      largest = std::max(largest, view.cluster.node(node).gpus);
      used += view.cluster.up(node) && view.cluster.free_on(node) < view.cluster.usable_on(node)
                  ? 1
                  : 0;
    }
    long long waiting = 0;
    for (const Slot slot : view.jobs.waiting()) waiting += view.jobs[slot].spec.gpus;
    const long long all = used + (waiting + largest - 1) / largest;
    return static_cast<int>(
        std::min<long long>(all, static_cast<long long>(view.cluster.node_count())));
  }
  std::vector<double> nodes_ahead(const View& view) const {
    std::vector<double> ahead;
    if (view.forecast == nullptr || !view.forecast->has_nodes()) return ahead;
    for (const Forecast::Slot& slot : view.forecast->next(view.now, options_.future)) {
      ahead.push_back(slot.nodes);
    }
    return ahead;
  }
  static std::vector<PowerRequest> requests(const View& view, int wanted) {
    std::vector<PowerRequest> out;
    int now = awake(view);
    for (std::size_t i = 0; i < view.cluster.node_count() && now < wanted; ++i) {
      const NodeId node{static_cast<std::uint32_t>(i)};
      if (view.cluster.up(node)) continue;
      out.push_back({node, true});
      ++now;
    }
    for (std::size_t i = view.cluster.node_count(); i-- > 0 && now > wanted;) {
      const NodeId node{static_cast<std::uint32_t>(i)};
      if (!view.cluster.up(node) || view.cluster.free_on(node) != view.cluster.node(node).gpus) {
        continue;
      }
      out.push_back({node, false});
      --now;
    }
    return out;
  }

  EnergySaving options_;
  EnergyControl control_;
};

}  // namespace

int EnergyControl::step(int used, const std::vector<double>& forecast) {
  const auto remember = [&] {
    past_.push_back(used);
    if (static_cast<int>(past_.size()) > options_.history) past_.pop_front();
  };
  if (steps_++ < kWarmUp) {
    active_ = used + options_.buffer;
    remember();
    return active_;
  }
  if (hold_ > 0) --hold_;
  if (active_ < used) {
    active_ = used + options_.buffer;
    hold_ = options_.keep;
  } else if (hold_ == 0 && !past_.empty()) {
    const double recent =
        std::accumulate(past_.begin(), past_.end(), 0.0) / static_cast<double>(past_.size());
    const bool falls = forecast.empty() || forecast.front() >= forecast.back();
    const double expected = forecast.empty() ? used - options_.future_drop : mean(forecast);
    const bool less =
        recent - used >= options_.past_drop && used - expected >= options_.future_drop;
    const int target = used + options_.buffer;
    if (less && falls && active_ - target >= options_.least_gain) active_ = target;
  }
  remember();
  return active_;
}

std::unique_ptr<ScalingPolicy> make_energy_saving(const EnergySaving& options) {
  return std::make_unique<Saver>(options);
}

PolicyInfo<ScalingPolicy> energy_saving_row() {
  return {
      "energy-saving",
      "nodes sleep while few are needed now and few are forecast",
      "Helios, 2021",
      {{"step", ParamKind::kReal, "600", "seconds between two decisions", 1},
       {"history", ParamKind::kInteger, "3", "steps whose mean use counts as the recent past", 1},
       {"future", ParamKind::kInteger, "18", "slots of the forecast that count", 1},
       {"past_drop", ParamKind::kReal, "0.5", "nodes by which use must have fallen", 0},
       {"future_drop", ParamKind::kReal, "1", "nodes by which it must be expected to fall", 0},
       {"least_gain", ParamKind::kInteger, "2", "nodes that a change must free", 0},
       {"buffer", ParamKind::kInteger, "5", "spare nodes kept awake beyond those in use", 0},
       {"keep", ParamKind::kInteger, "12",
        "steps after a rise during which no node is put to sleep", 0}},
      [](const Params& params) -> std::unique_ptr<ScalingPolicy> {
        EnergySaving options;
        options.step = params.real("step");
        options.history = static_cast<int>(params.integer("history"));
        options.future = static_cast<int>(params.integer("future"));
        options.past_drop = params.real("past_drop");
        options.future_drop = params.real("future_drop");
        options.least_gain = static_cast<int>(params.integer("least_gain"));
        options.buffer = static_cast<int>(params.integer("buffer"));
        options.keep = static_cast<int>(params.integer("keep"));
        return make_energy_saving(options);
      }};
}

}  // namespace muster
