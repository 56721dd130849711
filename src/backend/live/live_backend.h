// The engine's side of real machines: answers with beliefs, and collects the orders of a turn for
// the caller, which commits them and has them carried out. Time and events reach the engine
// directly, not through this class.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/backend.h"

namespace muster {

class LiveBackend final : public Backend {
 public:
  LiveBackend(std::shared_ptr<const PerfModel> beliefs, std::shared_ptr<const ClusterSpec> cluster)
      : beliefs_(std::move(beliefs)), cluster_(std::move(cluster)) {}

  JobProgress act(const Command& command, Seconds now) override;
  bool answers_later() const override { return true; }
  bool has_external_events() const override { return true; }
  void dispatch(std::span<const Order> orders, Seconds now) override;
  // In a look ahead, jobs run as they are believed to.
  std::unique_ptr<Backend> fork() const override;

  // All orders since the last call: stops, then moves and resizes, then starts of each turn.
  std::vector<Order> take_orders() { return std::exchange(orders_, {}); }

 private:
  std::shared_ptr<const PerfModel> beliefs_;
  std::shared_ptr<const ClusterSpec> cluster_;
  std::vector<Order> orders_;
};

}  // namespace muster
