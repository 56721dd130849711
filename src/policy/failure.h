// What a policy throws that cannot go on: code from outside the tree that raised, never returned or
// answered nonsense. The run ends with this message; the built-in policies never throw it.
#pragma once

#include <stdexcept>

namespace muster {

class PolicyFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace muster
