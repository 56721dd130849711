#include "policy/table.h"

namespace muster {
namespace {

// Source: Blox (EuroSys'24), run-time policy selection. Every few turns each candidate policy set
// is simulated from the present state, without new arrivals, and the one with the best score takes
// over. Blox replays everything from copies and needs seconds; here the state is forked.
class LookAhead final : public Selector {
 public:
  explicit LookAhead(const Params& params)
      : every_(params.integer("every")),
        horizon_(params.real("horizon")),
        metric_(params.text("metric")) {}

  Needs needs() const override { return kNeeds; }
  std::size_t select(const View& view, std::size_t current, WhatIf& what_if) override {
    if (turn_++ % every_ != 0 || view.jobs.active().empty()) return current;
    std::size_t best = current;
    double best_score = score(what_if.predict(current, horizon_));
    for (std::size_t i = 0; i < what_if.policy_sets(); ++i) {
      if (i == current) continue;
      // Only a real improvement is worth a change.
      const double candidate = score(what_if.predict(i, horizon_));
      if (candidate < best_score) {
        best = i;
        best_score = candidate;
      }
    }
    return best;
  }

  bool checkpoint(Archive& archive) override {
    archive.value(turn_);
    return true;
  }
  std::unique_ptr<Selector> clone() const override { return std::make_unique<LookAhead>(*this); }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
  double score(const Prediction& prediction) const {
    if (metric_ == "slowdown") return prediction.sum_slowdown;
    if (metric_ == "progress")
      return -prediction.sum_progress - static_cast<double>(prediction.finished);
    return prediction.mean_completion_time();
  }

  long long every_;
  Seconds horizon_;
  std::string metric_;
  long long turn_ = 0;
};

}  // namespace

PolicyInfo<Selector> look_ahead_row() {
  return {"look-ahead",
          "simulates the near future under each policy set and picks the best",
          "Blox, 2024",
          {{"every", ParamKind::kInteger, "1", "turns between two predictions", 1},
           {"horizon", ParamKind::kReal, "inf", "seconds to look ahead", 0},
           {"metric",
            ParamKind::kText,
            "jct",
            "the figure to optimise",
            -1,
            1,
            {"jct", "slowdown", "progress"}}},
          [](const Params& params) -> std::unique_ptr<Selector> {
            return std::make_unique<LookAhead>(params);
          }};
}

}  // namespace muster
