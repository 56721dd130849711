// Long work in a thread of its own, without the interpreter, while the calling thread looks for
// Ctrl-C, shows progress, and ends policies that never return.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <nanobind/nanobind.h>

#include "core/policy_calls.h"
#include "model/record.h"

namespace muster::python {

namespace nb = nanobind;

// Counts jobs that left, for a display.
class LeftCounter final : public Observer {
 public:
  explicit LeftCounter(std::atomic<std::uint64_t>& count) : count_(count) {}
  void on_job_end(const JobRecord&) override { count_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t>& count_;
};

struct Watch {
  std::atomic<bool> stop{false};           // the work should come to an end
  std::atomic<std::uint64_t> progress{0};  // for the display
  bool keep_going() const { return !stop.load(std::memory_order_relaxed); }
};

struct WatchOptions {
  nb::object progress;    // called with the count now and then; may be None
  double time_limit = 0;  // seconds for one call of a policy; 0: none
  std::vector<std::shared_ptr<PolicyCalls>> calls;
  double grace = 0;  // seconds that a call of a policy may still take after Ctrl-C
};

// Runs `work` to its end. Where Ctrl-C or a failing display ended it, that exception is raised
// after it has.
void watched(Watch& watch, const WatchOptions& options, const std::function<void()>& work);

}  // namespace muster::python
