// The policies of a live cluster that are written in Python. Each file has a process of its own
// (policy_host.h); if a policy fails, the cluster is scheduled without it
// (policy/outside/outside_policies.h).
//
// The policies' answers go to the plan's answer log, so that a recording has them. A replay asks
// the recording instead (recorded_loader.h), so neither a changed policy nor a clock can make a
// difference.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "daemon/outside/policy_host.h"
#include "policy/outside/answer_log.h"
#include "policy/outside/outside_policies.h"
#include "run/config/policy_loader.h"

namespace muster {

// Hosts by file, for as long as they are used: forecasts and reloads find the process of the
// policy that decides. A file that has changed gets another.
class PolicyHosts {
 public:
  explicit PolicyHosts(HostSettings settings) : settings_(std::move(settings)) {}
  std::shared_ptr<PolicyHost> of(const std::string& file);

 private:
  struct Known {
    std::filesystem::file_time_type changed;
    std::weak_ptr<PolicyHost> host;
  };
  HostSettings settings_;
  std::map<std::string, Known> known_;
};

class ProcessLoader final : public PolicyLoader {
 public:
  ProcessLoader(std::shared_ptr<PolicyHosts> hosts, std::shared_ptr<AnswerLog> answers)
      : hosts_(std::move(hosts)), answers_(std::move(answers)) {}

  bool knows(std::string_view kind, std::string_view name) const override;
  Result<std::unique_ptr<AdmissionPolicy>> admission(const Choice& choice,
                                                     const Symbols* symbols) const override;
  Result<std::unique_ptr<SchedulingPolicy>> scheduling(const Choice& choice,
                                                       const Symbols* symbols) const override;
  Result<std::unique_ptr<PlacementPolicy>> placement(const Choice& choice,
                                                     const Symbols* symbols) const override;

 private:
  Result<Outside> respondent(const char* kind, const Choice& choice, const Symbols* symbols) const;

  std::shared_ptr<PolicyHosts> hosts_;
  std::shared_ptr<AnswerLog> answers_;
};

}  // namespace muster
