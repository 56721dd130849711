// Calls from a run into policies written in Python, as whoever waits for the run sees them: which
// are under way and since when, and what went wrong in the first that failed.
//
// The run has a thread of its own. The thread that waits for it can therefore end a call that never
// returns, by raising an exception in the run's thread.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "model/ids.h"

namespace muster::python {

namespace nb = nanobind;

// A Python object that may be copied and dropped by threads that do not hold the interpreter.
class Held {
 public:
  explicit Held(nb::object object) : object_(new nb::object(std::move(object)), drop) {}
  const nb::object& operator*() const { return *object_; }
  const nb::object* operator->() const { return object_.get(); }

 private:
  static void drop(nb::object* object) {
    // What the process holds to its end outlives the interpreter, which has freed everything then.
    if (Py_IsInitialized() == 0) return;
    const nb::gil_scoped_acquire interpreter;
    delete object;
  }
  std::shared_ptr<nb::object> object_;
};

class PolicyCalls {
 public:
  // Marks a call as under way. The interpreter must be held.
  class Guard {
   public:
    explicit Guard(PolicyCalls& calls);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    // The call is over: from now on nothing is raised in it. Whether it was ended from outside.
    bool finish();

   private:
    PolicyCalls& calls_;
    unsigned long thread_;
    bool finished_ = false;
  };

  // Raises `exception`, a class, in every call that is under way for longer than `limit` seconds;
  // and again in one that has caught it, as an interruption, which `except Exception` does not
  // catch.
  void end_longer_than(double limit, nb::handle exception);

  // Remembers the first failure: what the policy raised (or None), and the message.
  void fail(nb::object exception, const std::string& message);
  // Raises muster.PolicyError from what the policy raised, if something failed, and forgets it: its
  // traceback may lead back to whoever holds this.
  void raise_failure();

 private:
  struct Call {
    unsigned long thread;
    std::chrono::steady_clock::time_point began;
    std::optional<std::chrono::steady_clock::time_point> ended = std::nullopt;  // the last time
  };
  std::mutex mutex_;
  std::vector<Call> calls_;
  std::optional<Held> exception_;
  std::string message_;
};

}  // namespace muster::python
