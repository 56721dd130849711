// Pacing: when the next turn comes, and which second a completion is booked on. Systems differ most
// here, so it is one strategy object.
//
// clang-format off
//
//   pacing    the next turn is                         a job ends at        its GPUs are free at
//   --------  ---------------------------------------  -------------------  --------------------
//   rounds    at every multiple of the length          the next turn        the next turn
//   slots     at the next multiple after an event      the exact moment     the next turn
//   ticks     at the multiple at which an event falls  that multiple        that multiple
//   events    at every event                           the exact moment     the exact moment
//
// clang-format on
//
// An event is an arrival, a completion or a change of a node. Where time is real, a turn takes
// place a little after its time; the next one is again on the grid.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/params.h"
#include "model/ids.h"

namespace muster {

// What the next turn may depend on. Times are kNever where nothing is due.
struct Moments {
  Seconds now = 0;
  Seconds next_arrival = kNever;
  bool last_arrival = false;    // no later arrival is known
  Seconds next_event = kNever;  // completion or node change, as far as known
  Seconds wake = kNever;        // when the policy asks to be called
  // The next turn on the grid matters, whatever is known to happen.
  bool needs_periodic_turns = false;
  bool active = false;  // something runs or waits
};

class Pacing {
 public:
  virtual ~Pacing() = default;
  // The time of the next turn, later than now; kNever when nothing will ever happen.
  virtual Seconds next_turn(const Moments& moments) const = 0;
  // The first turn at or after `first_arrival`.
  virtual Seconds first_turn(Seconds first_arrival) const = 0;
  // The recorded end of a job that was done at `exact` and seen at the turn `turn`.
  virtual Seconds end_of(Seconds exact, Seconds turn) const = 0;
  // Turns that were passed over between two that took place.
  virtual long long skipped(Seconds /*from*/, Seconds /*to*/) const { return 0; }
  // Length of a round, slot or tick; 0 if there is none.
  virtual Seconds length() const = 0;
  // Whether it reads Moments::last_arrival. Only a source that holds all its jobs can say.
  virtual bool needs_last_arrival() const { return false; }
  virtual std::unique_ptr<Pacing> clone() const = 0;
};

std::unique_ptr<Pacing> make_rounds(Seconds length);
std::unique_ptr<Pacing> make_slots(Seconds length);
std::unique_ptr<Pacing> make_ticks(Seconds length);
std::unique_ptr<Pacing> make_events();

struct PacingInfo {
  std::string_view name;
  std::string_view sentence;
  ParamList params;
  std::unique_ptr<Pacing> (*make)(const Params&);
  bool works_live = false;  // where completions are not foreseen and jobs come as they like
  bool rounds = false;      // a turn at every multiple of its parameter `length`, whatever happens
  std::string_view progress = "continuous";  // the progress model of its runs, unless they name one
};
const std::vector<PacingInfo>& pacing_table();

}  // namespace muster
