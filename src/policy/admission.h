// Admission: the answer to a new job. A held job is asked about again every turn, in order of
// arrival.
#pragma once

#include <memory>

#include "base/archive.h"
#include "model/decision.h"
#include "policy/needs.h"
#include "policy/view.h"

namespace muster {

enum class Admission { kAccept, kHold, kRefuse };

struct AdmissionAnswer {
  Admission answer = Admission::kAccept;
  Reason reason = Reason::kAccepted;
};

// What admission knows of the load: GPUs asked for by all admitted jobs, running or waiting.
struct Load {
  long long demanded_gpus = 0;
};

class AdmissionPolicy {
 public:
  virtual ~AdmissionPolicy() = default;
  virtual Needs needs() const { return {}; }
  // `load` includes what was admitted earlier in this turn.
  virtual AdmissionAnswer admit(const View& view, const Load& load, const JobSpec& job) = 0;
  virtual std::unique_ptr<AdmissionPolicy> clone() const = 0;
  // Writes or reads all that it remembers from one turn to the next (base/archive.h); false: a run
  // with it cannot be saved. One that remembers nothing returns true.
  virtual bool checkpoint(Archive&) { return false; }
};

}  // namespace muster
