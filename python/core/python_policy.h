// Policies written in Python, asked in this process's interpreter.
//
// muster.policy.Adapted (python/muster/policy.py) has normalised them: `call` takes the views and
// the time, the answers are arrays of known types. What is in the arrays is checked by the forms of
// policies (policy/outside/outside_policies.h).
#pragma once

#include <memory>
#include <string>

#include "core/parts.h"
#include "core/policy_calls.h"
#include "policy/outside/respondent.h"

namespace muster::python {

class PythonRespondent final : public Respondent {
 public:
  // `symbols` may be null where it is only asked what it declares.
  PythonRespondent(const char* kind, std::string name, nb::object adapted, const Symbols* symbols,
                   std::shared_ptr<PolicyCalls> calls);

  const Declared& declared() const override { return *declared_; }
  const std::string& name() const override { return name_; }
  // Everything that goes wrong ends the run with a message that has the policy and the time.
  void ask(const PolicyQuestion& question, PolicyAnswer& answer) override;
  [[noreturn]] void bad(Seconds now, const std::string& what) override;
  std::unique_ptr<Respondent> copy() const override;

 private:
  nb::object call(const PolicyQuestion& question) const;
  void read(nb::handle given, PolicyAnswer& answer) const;
  [[noreturn]] void fail(Seconds now, nb::python_error& error, bool ended);

  const char* kind_;
  std::string name_;
  Held adapted_;
  Held call_holder_;
  nb::handle call_;
  const Symbols* symbols_;
  std::shared_ptr<PolicyCalls> calls_;
  std::shared_ptr<const Declared> declared_;
};

}  // namespace muster::python
