// Ends a solver from outside, for example at Ctrl-C. Solvers look between two iterations, in the
// thread in which such an object lives; all other threads solve to the end.
#pragma once

#include <atomic>

namespace muster {

struct SolvingStopped {};

class StopSolving {
 public:
  // Once `stop` is true, solvers of this thread throw SolvingStopped.
  explicit StopSolving(const std::atomic<bool>& stop) { current_ = &stop; }
  ~StopSolving() { current_ = nullptr; }
  StopSolving(const StopSolving&) = delete;
  StopSolving& operator=(const StopSolving&) = delete;

  static void look() {
    if (current_ != nullptr && current_->load(std::memory_order_relaxed)) throw SolvingStopped{};
  }

 private:
  inline static thread_local const std::atomic<bool>* current_ = nullptr;
};

}  // namespace muster
