#include <array>

#include "model/decision.h"
#include "model/job.h"

namespace muster {

std::string_view action_name(Action action) {
  constexpr std::array<std::string_view, 18> kNames = {
      "submit", "admit", "hold",    "refuse",    "start",  "stop",   "resize", "move",  "finish",
      "fail",   "block", "node-up", "node-down", "switch", "cancel", "revise", "drain", "undrain"};
  return kNames.at(static_cast<std::size_t>(action));
}

namespace {

struct ReasonText {
  std::string_view name;
  std::string_view sentence;
};

const ReasonText& reason_text(Reason reason) {
  static constexpr std::array<ReasonText, 33> kTexts = {{
      {"none", "no reason recorded"},
      {"arrived", "it was submitted"},
      {"accepted", "admission accepted it"},
      {"load-limit", "the load of the cluster is above the admission threshold"},
      {"never-fits", "it asks for more than its part of the cluster will ever have"},
      {"over-quota", "the quota of its partition is used up"},
      {"first-in-order", "it is next in the policy's order, and it fits"},
      {"backfilled", "it fits while a job before it does not"},
      {"outranked", "another job comes before it in the policy's order"},
      {"not-enough-free", "fewer GPUs are free than it needs"},
      {"fragmented", "enough GPUs are free, but not in a shape that the placement accepts"},
      {"node-lost", "a node under it failed or left"},
      {"gpu-lost", "a GPU under it failed"},
      {"node-returned", "the node joined the cluster"},
      {"completed", "all its work is done"},
      {"crashed", "it failed too often by itself"},
      {"elastic", "the policy changed its size"},
      {"consolidated", "it moved to a better place"},
      {"predicted-best", "simulations of the near future favoured this policy set"},
      {"not-enough-cpu", "GPUs are free, but their nodes lack the CPU cores or memory"},
      {"deadline-impossible", "its deadline cannot be met"},
      {"profiled", "its profiling time is over"},
      {"grouped", "it shares GPUs with another job"},
      {"scaled", "nodes are powered up and down as load is expected"},
      {"slot-too-long", "its deadline lies less than a turn after its submission"},
      {"no-partition", "the cluster has no partition of the name that it gives"},
      {"no-gpu-type", "its part of the cluster has no GPUs of the type that it asks for"},
      {"cancelled", "a person cancelled it"},
      {"start-failed", "its start failed, and not by its own fault"},
      {"run-lost", "what it ran on was lost, and not by its own fault"},
      {"revised", "a person changed what it asks for"},
      {"requested", "a person asked for it"},
      {"unknown-speed", "the performance model does not know how fast it runs"},
  }};
  return kTexts.at(static_cast<std::size_t>(reason));
}

}  // namespace

std::string_view reason_name(Reason reason) { return reason_text(reason).name; }
std::string_view reason_sentence(Reason reason) { return reason_text(reason).sentence; }

std::string_view job_state_name(JobState state) {
  constexpr std::array<std::string_view, 8> kNames = {
      "submitted", "queued", "running", "preempted", "finished", "failed", "refused", "cancelled"};
  return kNames.at(static_cast<std::size_t>(state));
}

bool may_follow(JobState from, JobState to) {
  const bool over = from == JobState::kFinished || from == JobState::kFailed ||
                    from == JobState::kRefused || from == JobState::kCancelled;
  if (to == JobState::kCancelled) return !over;
  switch (from) {
    case JobState::kSubmitted:
      // Preempted or finished: a person had put it on hold.
      return to == JobState::kQueued || to == JobState::kRefused || to == JobState::kPreempted ||
             to == JobState::kFinished;
    case JobState::kQueued:
      return to == JobState::kRunning || to == JobState::kRefused || to == JobState::kFinished ||
             to == JobState::kSubmitted;
    case JobState::kRunning:
      // Queued again: it was given GPUs, and never began to use them.
      return to == JobState::kPreempted || to == JobState::kFinished || to == JobState::kFailed ||
             to == JobState::kQueued;
    case JobState::kPreempted:
      // Word that it is done may come after it has lost its GPUs.
      return to == JobState::kRunning || to == JobState::kFailed || to == JobState::kFinished ||
             to == JobState::kSubmitted;
    case JobState::kFinished:
    case JobState::kFailed:
    case JobState::kRefused:
    case JobState::kCancelled:
      return false;
  }
  return false;
}

}  // namespace muster
