// The executor's side of Slurm with a Slurm in memory, for tests: orders, time that passes, and
// what was heard.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/slurm/slurm_desk.h"
#include "support/slurm_in_memory.h"
#include "support/temporary_folder.h"

namespace muster {

class SlurmDeskTest : public ::testing::Test {
 protected:
  SlurmDeskTest() { begin(); }

  // A new daemon: nothing is left of what the old one knew.
  void begin() {
    SlurmSettings settings;
    settings.instance = "lab";
    settings.partitions = {"gpu"};
    settings.runs = folder_.path();
    settings.ended = folder_.path() / "ended";
    settings.user_id = 0;
    settings.say = [this](const std::string& line) { said_.push_back(line); };
    settings.nonce = [this] { return fmt::format("x{}", ++nonces_); };
    std::vector<std::string> notes;
    auto cluster = SlurmCluster::find(slurm_.nodes()->rows, {"gpu"}, notes);
    desk_ = std::make_unique<SlurmDesk>(std::move(settings), std::move(*cluster), slurm_,
                                        [this](const Report& report) { heard_.push_back(report); });
    look();
  }
  void look() { desk_->look(slurm_.now()); }
  // Time goes on, and the desk looks when it wants to.
  void pass(double seconds) {
    for (double left = seconds; left > 1e-9; left -= 0.05) {
      slurm_.pass(0.05);
      if (slurm_.now() >= desk_->due()) look();
    }
  }
  RunOrder order(std::uint32_t job, std::uint32_t launch, std::vector<std::uint64_t> masks = {1}) {
    RunOrder order;
    order.run = {JobId{job}, launch};
    order.command = {"train"};
    order.process_per_gpu = false;
    for (std::size_t i = 0; i < masks.size(); ++i) {
      if (masks[i] != 0) order.gpus.add(NodeId{static_cast<std::uint32_t>(i)}, masks[i]);
    }
    return order;
  }
  // From order to running.
  void run(const RunOrder& order) {
    desk_->prepare(order);
    pass(0.5);
    desk_->go(order.run, slurm_.now());
    pass(3);
  }
  std::vector<RunEvent> events(RunId run) const {
    std::vector<RunEvent> events;
    for (const Report& report : heard_) {
      const auto* one = std::get_if<RunReport>(&report);
      if (one != nullptr && one->run == run) events.push_back(one->event);
    }
    return events;
  }
  RunReport last(RunId run) const {
    RunReport last;
    for (const Report& report : heard_) {
      const auto* one = std::get_if<RunReport>(&report);
      if (one != nullptr && one->run == run) last = *one;
    }
    return last;
  }
  std::vector<JobReport> people() const {
    std::vector<JobReport> all;
    for (const Report& report : heard_) {
      if (const auto* one = std::get_if<JobReport>(&report)) all.push_back(*one);
    }
    return all;
  }
  std::vector<NodeReport> nodes() const {
    std::vector<NodeReport> all;
    for (const Report& report : heard_) {
      if (const auto* one = std::get_if<NodeReport>(&report)) all.push_back(*one);
    }
    return all;
  }

  static constexpr RunId kFirst{JobId{1}, 1};
  static constexpr RunId kSecond{JobId{1}, 2};

  TemporaryFolder folder_;
  SlurmInMemory slurm_{4, 4};
  std::vector<Report> heard_;
  std::vector<std::string> said_;
  std::unique_ptr<SlurmDesk> desk_;
  int nonces_ = 0;
};

}  // namespace muster
