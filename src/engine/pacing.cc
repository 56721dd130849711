#include "engine/pacing.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

// The first multiple of `length` that is at least `time`.
Seconds ceil_to(Seconds time, Seconds length) {
  if (time == kNever) return kNever;
  Seconds at = std::ceil(time / length) * length;
  // The division may round across a boundary: step to the right multiple.
  if (at - length >= time) at -= length;
  if (at < time) at += length;
  return at;
}

Seconds next_change(const Moments& m) { return std::min({m.next_arrival, m.next_event, m.wake}); }

class Rounds final : public Pacing {
 public:
  explicit Rounds(Seconds length) : length_(length) {}
  Seconds next_turn(const Moments& m) const override {
    if (m.restless) return m.now + length_;
    return std::max(m.now + length_, ceil_to(next_change(m), length_));
  }
  Seconds first_turn(Seconds) const override { return 0; }
  Seconds end_of(Seconds, Seconds turn) const override { return turn; }
  long long skipped(Seconds from, Seconds to) const override {
    return std::max(0LL, std::llround((to - from) / length_) - 1);
  }
  Seconds length() const override { return length_; }
  std::unique_ptr<Pacing> clone() const override { return std::make_unique<Rounds>(*this); }

 private:
  Seconds length_;
};

class Slots final : public Pacing {
 public:
  explicit Slots(Seconds length) : length_(length) {}
  Seconds next_turn(const Moments& m) const override {
    if (m.restless) return m.now + length_;
    return std::max(m.now + length_, ceil_to(next_change(m), length_));
  }
  Seconds first_turn(Seconds first_arrival) const override {
    return ceil_to(first_arrival, length_);
  }
  Seconds end_of(Seconds exact, Seconds) const override { return exact; }
  Seconds length() const override { return length_; }
  std::unique_ptr<Pacing> clone() const override { return std::make_unique<Slots>(*this); }

 private:
  Seconds length_;
};

class Ticks final : public Pacing {
 public:
  explicit Ticks(Seconds length) : length_(length) {}
  Seconds next_turn(const Moments& m) const override {
    if (m.restless) return m.now + length_;
    return std::max(m.now + length_, ceil_to(next_change(m), length_));
  }
  Seconds first_turn(Seconds first_arrival) const override {
    return ceil_to(first_arrival, length_);
  }
  Seconds end_of(Seconds, Seconds turn) const override { return turn; }
  Seconds length() const override { return length_; }
  std::unique_ptr<Pacing> clone() const override { return std::make_unique<Ticks>(*this); }

 private:
  Seconds length_;
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
       "turns at every arrival, completion and node change, at the exact moment",
       {},
       [](const Params&) { return make_events(); }},
      {"rounds",
       "turns at every multiple of the length; a job ends at the turn after its work is done",
       {{"length", ParamKind::kReal, "300", "seconds between turns", 1e-3}},
       [](const Params& p) { return make_rounds(p.real("length")); }},
      {"slots",
       "turns at the next multiple of the length after something happened; exact ends",
       {{"length", ParamKind::kReal, "60", "seconds of a slot", 1e-3}},
       [](const Params& p) { return make_slots(p.real("length")); }},
      {"ticks",
       "turns at whole ticks at which something happens; a job ends on a tick",
       {{"length", ParamKind::kReal, "1", "seconds of a tick", 1e-3}},
       [](const Params& p) { return make_ticks(p.real("length")); }},
  };
  return kTable;
}

}  // namespace muster
