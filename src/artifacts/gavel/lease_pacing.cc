#include "artifacts/gavel/lease_pacing.h"

namespace muster {
namespace {

// The backend knows when the leases of this turn end; where none was given, the next arrival is
// what there is to wait for. If nothing will come either, there is one more turn at the same
// moment: a policy that waits then learns that nothing it waits for can happen.
class LeasePacing final : public Pacing {
 public:
  explicit LeasePacing(Seconds length) : length_(length) {}
  Seconds next_turn(const Moments& m) const override {
    if (m.next_event != kNever) return m.next_event;
    if (m.next_arrival != kNever) return m.next_arrival;
    return m.active ? m.now : kNever;
  }
  Seconds first_turn(Seconds first_arrival) const override { return first_arrival; }
  Seconds end_of(Seconds exact, Seconds) const override { return exact; }
  Seconds length() const override { return length_; }
  std::unique_ptr<Pacing> clone() const override { return std::make_unique<LeasePacing>(*this); }

 private:
  Seconds length_;
};

}  // namespace

std::unique_ptr<Pacing> make_leases(Seconds length) {
  return std::make_unique<LeasePacing>(length);
}

PacingInfo lease_pacing() {
  return {"leases",
          "jobs get the whole training steps of a round; the next turn comes when the last job has "
          "done them",
          {{"length", ParamKind::kReal, "360", "seconds of a round", 1e-3}},
          [](const Params& p) { return make_leases(p.real("length")); },
          false,
          false,
          "leases"};
}

}  // namespace muster
