// What the policies of a plan that are from outside the tree declared and answer. They are numbered
// in the order in which they are made, which is the same whenever a plan is made of the same
// description.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "policy/outside/respondent.h"

namespace muster {

struct AnswerLog {
  struct Policy {
    std::string kind;
    std::string name;
    std::string declared;  // JSON
  };
  std::vector<Policy> policies;
  // Called with each answer; null: there was none. Set by the recorder.
  std::function<void(std::size_t policy, const PolicyAnswer* answer)> on_answer;
};

}  // namespace muster
