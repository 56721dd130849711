#include "artifacts/blox/every_stop.h"

namespace muster {

AccountingInfo every_stop_accounting() {
  return {"every-stop",
          "a job stopped and started again in one turn counts as preempted",
          "Blox, 2024",
          {.passing_stops = true, .moves = false}};
}

}  // namespace muster
