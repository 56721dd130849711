#include "engine/orders.h"

#include <algorithm>

namespace muster {
namespace {

int phase_of(CommandKind kind) {
  switch (kind) {
    case CommandKind::kStop:
      return 0;
    case CommandKind::kStart:
      return 2;
    default:
      return 1;
  }
}

}  // namespace

void TurnOrders::add(Order order) {
  Order earlier;
  const bool moves = order.kind == CommandKind::kMove || order.kind == CommandKind::kResize;
  if (moves && withdraw(order.before, earlier)) {
    // It was to start, or to move, in this very turn: now it does so elsewhere.
    order.kind = earlier.kind == CommandKind::kStart ? CommandKind::kStart : order.kind;
    order.before = earlier.before;
  }
  orders_.push_back(std::move(order));
}

bool TurnOrders::withdraw(RunId run, Order& withdrawn) {
  const auto found = std::find_if(orders_.begin(), orders_.end(), [run](const Order& order) {
    return order.run == run && order.kind != CommandKind::kStop;
  });
  if (found == orders_.end()) return false;
  withdrawn = std::move(*found);
  orders_.erase(found);
  return true;
}

std::span<const Order> TurnOrders::sorted() {
  std::stable_sort(orders_.begin(), orders_.end(), [](const Order& a, const Order& b) {
    return phase_of(a.kind) < phase_of(b.kind);
  });
  return orders_;
}

}  // namespace muster
