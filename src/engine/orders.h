// The orders of one turn, netted: a launch gets at most one order. Stops go out before moves and
// resizes, and these before starts. A launch that was decided and taken back within the turn never
// leaves the engine.
#pragma once

#include <span>
#include <vector>

#include "engine/backend.h"

namespace muster {

class TurnOrders {
 public:
  void add(Order order);
  // Takes back the start, move or resize of this launch, if it is among the orders; of a move, the
  // launch that it would have replaced is then to be stopped. Returns the order as it was.
  bool withdraw(RunId run, Order& withdrawn);

  bool empty() const { return orders_.empty(); }
  // In the order in which they are to be given.
  std::span<const Order> sorted();
  void clear() { orders_.clear(); }

 private:
  std::vector<Order> orders_;
};

}  // namespace muster
