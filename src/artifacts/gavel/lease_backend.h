// The simulated cluster of Gavel's simulator: jobs get their work in leases, from turn to turn (see
// lease_book.h). Needs the pacing `leases`.
#pragma once

#include <memory>
#include <vector>

#include "artifacts/gavel/lease_book.h"
#include "backend/sim/progress_table.h"
#include "model/checkpoint.h"

namespace muster {

class LeaseBackend final : public Backend {
 public:
  LeaseBackend(SimParts parts, const LeaseRule& rule);

  JobProgress act(const Command& command, Seconds now) override;
  Seconds advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) override;
  Seconds next_event() override;
  std::unique_ptr<Backend> fork() const override;
  bool checkpoint(Archive& archive) override;

 private:
  SimParts parts_;
  NodeLife nodes_;
  LeaseBook leases_;
  Seconds now_ = 0;
};

ProgressInfo lease_progress();

}  // namespace muster
