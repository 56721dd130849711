#include "artifacts/tiresias/steps_pacing.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

class StepsPacing final : public Pacing {
 public:
  explicit StepsPacing(Seconds length) : length_(length) {}
  Seconds next_turn(const Moments& m) const override {
    if (m.needs_periodic_turns) return std::min(m.next_arrival, m.now + length_);
    const Seconds change = std::min(m.next_event, m.wake);
    if (change == kNever) return m.next_arrival;
    Seconds at = m.now + std::max(1.0, std::ceil((change - m.now) / length_)) * length_;
    if (at < change) at += length_;
    return std::min(m.next_arrival, at);
  }
  Seconds first_turn(Seconds first_arrival) const override { return first_arrival; }
  Seconds end_of(Seconds, Seconds turn) const override { return turn; }
  Seconds length() const override { return length_; }
  std::unique_ptr<Pacing> clone() const override { return std::make_unique<StepsPacing>(*this); }

 private:
  Seconds length_;
};

}  // namespace

std::unique_ptr<Pacing> make_steps(Seconds length) { return std::make_unique<StepsPacing>(length); }

PacingInfo steps_pacing() {
  return {"steps",
          "a turn at every arrival and after a fixed time without one; a job ends at a turn",
          {{"length", ParamKind::kReal, "10", "seconds of a step", 1e-3}},
          [](const Params& p) { return make_steps(p.real("length")); }};
}

}  // namespace muster
