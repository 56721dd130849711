#include "engine/pacing.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

// Turns lie on a grid: the multiples of a length. A live clock is always a little late for them, so
// that every time is first brought back to the multiple it belongs to; otherwise turns would drift.

// The last multiple of `length` that is not after `time`, counted in lengths.
double multiple_at(Seconds time, Seconds length) {
  double k = std::floor(time / length);
  // The division may round across a multiple.
  if (k * length > time) k -= 1;
  if ((k + 1) * length <= time) k += 1;
  return k;
}

// The first multiple after `time`.
Seconds after(Seconds time, Seconds length) { return (multiple_at(time, length) + 1) * length; }

// The first multiple that is at least `time`.
Seconds ceil_to(Seconds time, Seconds length) {
  if (time == kNever) return kNever;
  const Seconds at = multiple_at(time, length) * length;
  return at == time ? time : after(time, length);
}

Seconds next_change(const Moments& m) { return std::min({m.next_arrival, m.next_event, m.wake}); }

// Turns on the multiples of a length, and only at those where something may change.
class Grid : public Pacing {
 public:
  explicit Grid(Seconds length) : length_(length) {}
  Seconds next_turn(const Moments& m) const override {
    const Seconds next = after(m.now, length_);
    return m.needs_periodic_turns ? next : std::max(next, ceil_to(next_change(m), length_));
  }
  Seconds first_turn(Seconds first_arrival) const override {
    return ceil_to(first_arrival, length_);
  }
  Seconds end_of(Seconds, Seconds turn) const override { return turn; }
  Seconds length() const override { return length_; }

 private:
  Seconds length_;
};

class Rounds final : public Grid {
 public:
  using Grid::Grid;
  Seconds first_turn(Seconds) const override { return 0; }
  long long skipped(Seconds from, Seconds to) const override {
    const double turns = multiple_at(to, length()) - multiple_at(from, length());
    return std::max(0LL, std::llround(turns) - 1);
  }
  std::unique_ptr<Pacing> clone() const override { return std::make_unique<Rounds>(*this); }
};

class Slots final : public Grid {
 public:
  using Grid::Grid;
  Seconds end_of(Seconds exact, Seconds) const override { return exact; }
  std::unique_ptr<Pacing> clone() const override { return std::make_unique<Slots>(*this); }
};

class Ticks final : public Grid {
 public:
  using Grid::Grid;
  std::unique_ptr<Pacing> clone() const override { return std::make_unique<Ticks>(*this); }
};

class Events final : public Pacing {
 public:
  Seconds next_turn(const Moments& m) const override { return next_change(m); }
  Seconds first_turn(Seconds first_arrival) const override { return first_arrival; }
  Seconds end_of(Seconds exact, Seconds) const override { return exact; }
  Seconds length() const override { return 0; }
  std::unique_ptr<Pacing> clone() const override { return std::make_unique<Events>(*this); }
};

}  // namespace

std::unique_ptr<Pacing> make_rounds(Seconds length) { return std::make_unique<Rounds>(length); }
std::unique_ptr<Pacing> make_slots(Seconds length) { return std::make_unique<Slots>(length); }
std::unique_ptr<Pacing> make_ticks(Seconds length) { return std::make_unique<Ticks>(length); }
std::unique_ptr<Pacing> make_events() { return std::make_unique<Events>(); }

const std::vector<PacingInfo>& pacing_table() {
  static const std::vector<PacingInfo> kTable = {
      {"events",
       "a turn at the exact moment of every arrival, completion and node change",
       {},
       [](const Params&) { return make_events(); },
       true},
      {"rounds",
       "a turn at every multiple of the length; a job ends at the turn after its work is done",
       {{"length", ParamKind::kReal, "300", "seconds between turns", 1e-3}},
       [](const Params& p) { return make_rounds(p.real("length")); },
       true,
       true},
      {"slots",
       "a turn at the next multiple of the length after an event; jobs end at their exact time",
       {{"length", ParamKind::kReal, "60", "seconds of a slot", 1e-3}},
       [](const Params& p) { return make_slots(p.real("length")); },
       true},
      {"ticks",
       "a turn at each tick at which something happens; a job ends at a tick",
       {{"length", ParamKind::kReal, "1", "seconds of a tick", 1e-3}},
       [](const Params& p) { return make_ticks(p.real("length")); },
       true},
  };
  return kTable;
}

}  // namespace muster
