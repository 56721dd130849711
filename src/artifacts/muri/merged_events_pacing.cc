#include "artifacts/muri/merged_events_pacing.h"

#include <algorithm>

namespace muster {
namespace {

class MergedEvents final : public Pacing {
 public:
  explicit MergedEvents(const Closeness& merge) : merge_(merge) {}
  Seconds next_turn(const Moments& m) const override {
    if (m.next_event < m.next_arrival && merge_.close(m.next_event, m.next_arrival)) {
      return std::min(m.next_arrival, m.wake);
    }
    return std::min({m.next_arrival, m.next_event, m.wake});
  }
  Seconds first_turn(Seconds first_arrival) const override { return first_arrival; }
  Seconds end_of(Seconds exact, Seconds) const override { return exact; }
  Seconds length() const override { return 0; }
  std::unique_ptr<Pacing> clone() const override { return std::make_unique<MergedEvents>(*this); }
  const Closeness& merge() const { return merge_; }

 private:
  Closeness merge_;
};

}  // namespace

std::unique_ptr<Pacing> make_merged_events(const Closeness& merge) {
  return std::make_unique<MergedEvents>(merge);
}

Closeness arrival_closeness(const Pacing& pacing) {
  const auto* merged = dynamic_cast<const MergedEvents*>(&pacing);
  return merged == nullptr ? Closeness{} : merged->merge();
}

PacingInfo merged_events_pacing() {
  return {"merged-events",
          "turns at every event, where a completion close before an arrival happens with it",
          {{"relative", ParamKind::kReal, "1e-9", "how close, relative to the time", 0, 1},
           {"absolute", ParamKind::kReal, "1e-4", "the same in seconds", 0}},
          [](const Params& p) {
            return make_merged_events({p.real("relative"), p.real("absolute")});
          }};
}

}  // namespace muster
