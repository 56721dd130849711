#include "artifacts/elasticflow/gathered_pacing.h"

#include <algorithm>

namespace muster {
namespace {

class GatheredPacing final : public Pacing {
 public:
  GatheredPacing(Seconds slot, Gathering rule) : slot_(slot), rule_(rule) {}
  Seconds next_turn(const Moments& m) const override {
    const Seconds soon = m.now + slot_;
    const bool coming = m.next_arrival != kNever;
    const Seconds arrival = m.last_arrival ? m.next_arrival : std::max(m.next_arrival, soon);
    const Seconds own = std::min(m.next_event, m.wake);
    const Seconds change = std::min(m.next_arrival, own);
    switch (rule_) {
      case Gathering::kEverything: {
        // After the last arrival the policy has put its own events together.
        const bool lone = !coming || (m.last_arrival && own == kNever);
        return or_soon(lone ? change : std::max(change, soon), m);
      }
      case Gathering::kArrivals:
        return or_soon(std::min(arrival, own), m);
      case Gathering::kArrivalsAlone:
        if (coming) return arrival;
        return m.active ? soon : kNever;
      case Gathering::kEverySlot:
        return m.active || coming ? soon : kNever;
    }
    return kNever;
  }
  Seconds first_turn(Seconds first_arrival) const override { return first_arrival; }
  Seconds end_of(Seconds exact, Seconds) const override { return exact; }
  Seconds length() const override { return slot_; }
  bool needs_last_arrival() const override { return true; }
  std::unique_ptr<Pacing> clone() const override { return std::make_unique<GatheredPacing>(*this); }

 private:
  // Where nothing is known to happen and some wait, the policy is asked again.
  Seconds or_soon(Seconds next, const Moments& m) const {
    return next == kNever && m.needs_periodic_turns ? m.now + slot_ : next;
  }

  Seconds slot_;
  Gathering rule_;
};

Gathering gathering_of(std::string_view name) {
  if (name == "arrivals") return Gathering::kArrivals;
  if (name == "arrivals-alone") return Gathering::kArrivalsAlone;
  return name == "every-slot" ? Gathering::kEverySlot : Gathering::kEverything;
}

}  // namespace

std::unique_ptr<Pacing> make_gathered(Seconds slot, Gathering rule) {
  return std::make_unique<GatheredPacing>(slot, rule);
}

PacingInfo gathered_pacing() {
  return {"gathered",
          "a turn at events, at least one slot apart; exact ends; for ElasticFlow's schedulers as "
          "coded",
          {{"length", ParamKind::kReal, "60", "shortest time in seconds between two turns", 1e-3},
           {"events",
            ParamKind::kText,
            "everything",
            "what causes a turn: every event; arrivals delayed and other events at once; arrivals "
            "alone until the last; or every slot",
            -1,
            1,
            {"everything", "arrivals", "arrivals-alone", "every-slot"}}},
          [](const Params& p) {
            return make_gathered(p.real("length"), gathering_of(p.text("events")));
          }};
}

}  // namespace muster
