// What all policies written in Python have in common: the adapted object, calls into it that fail
// with a message, and what it declares.
//
// muster.policy.Adapted (python/muster/policy.py) has normalised all of this: `call` takes the
// views and the time, the answers are arrays of known types. What is left to check here is what is
// in them.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/symbols.h"
#include "core/parts.h"
#include "core/policy_calls.h"
#include "core/views.h"
#include "policy/failure.h"
#include "policy/placement.h"

namespace muster::python {

class PythonPolicy {
 public:
  PythonPolicy(const char* kind, std::string name, nb::object adapted, const Symbols* symbols,
               std::shared_ptr<PolicyCalls> calls);

  const std::string& name() const { return name_; }
  const Symbols* symbols() const { return symbols_; }
  Needs needs() const { return needs_; }
  bool flag(const char* attribute) const;
  double number(const char* attribute) const;
  std::string form() const;

  // The same policy with a copy of the Python object, so that the two share no state.
  PythonPolicy copy() const;

  // Calls `adapted.call(...)` through `ask`, which may also read the answer. Everything that goes
  // wrong ends the run with a message that has the policy and the time.
  template <typename Ask>
  void call(Seconds now, Ask&& ask) const {
    const nb::gil_scoped_acquire interpreter;
    const PolicyCalls::Guard guard(*calls_);
    try {
      ask(call_);
      if (guard.ended()) bad(now, "was ended from outside");
    } catch (nb::python_error& error) {
      fail(now, error, guard.ended());
    } catch (const MusterError& error) {
      bad(now, error.what());
    }
  }
  // The answer makes no sense. The interpreter must be held.
  [[noreturn]] void bad(Seconds now, const std::string& what) const;

 private:
  [[noreturn]] void fail(Seconds now, nb::python_error& error, bool ended) const;

  std::string kind_;
  std::string name_;
  Held adapted_;
  Held call_holder_;
  nb::handle call_;
  const Symbols* symbols_;
  std::shared_ptr<PolicyCalls> calls_;
  std::vector<Need> needs_;
};

// Closes a view when the call is over, whatever Python keeps of it.
template <typename V>
class Lent {
 public:
  template <typename... Args>
  explicit Lent(const Args&... args)
      : object_(nb::cast(V(args...))), view_(nb::inst_ptr<V>(object_)) {}
  ~Lent() { view_->close(); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  const nb::object& operator*() const { return object_; }

 private:
  nb::object object_;
  V* view_;
};

std::unique_ptr<SchedulingPolicy> make_python_scheduling(PythonPolicy policy);
std::unique_ptr<AdmissionPolicy> make_python_admission(PythonPolicy policy);
std::unique_ptr<PlacementPolicy> make_python_placement(PythonPolicy policy);

}  // namespace muster::python
