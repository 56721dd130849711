// The exception of a policy that cannot continue: code from outside the tree that raised, never
// returned or gave an invalid answer. The run ends with its message. Built-in policies never throw
// it.
#pragma once

#include <stdexcept>

namespace muster {

class PolicyFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace muster
