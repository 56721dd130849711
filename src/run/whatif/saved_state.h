// A saved run, restored to answer questions, not to continue.
#pragma once

#include <memory>
#include <string>

#include "run/assembly/simulation.h"
#include "run/whatif/question.h"

namespace muster {

class SavedState {
 public:
  // The description is in the file; the workload that it names must still be there.
  static Result<std::unique_ptr<SavedState>> open(const std::string& file);

  // Not longer than this lives.
  Subject subject() const;

 private:
  RunConfig config_;
  std::unique_ptr<Simulation> simulation_;
  Engine* engine_ = nullptr;
};

}  // namespace muster
