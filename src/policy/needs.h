// What a policy has to know that not every workload, cluster or run can provide, and what the
// policy does without it.
//
// Every policy declares its needs as a value. The run checks them against its inputs before it
// begins, the reference page and `muster policies` print them, and tables of results mark the
// policies that know how long jobs will run.
#pragma once

#include <span>
#include <string_view>

namespace muster {

// Things that can be known of jobs, GPUs and the future.
enum class Knowledge {
  kDuration,      // how long the job will run: the truth in a simulation, a belief elsewhere
  kEstimate,      // how long it is believed to run
  kDeadline,      // when it should be done
  kPriority,      // a priority below 0: the job takes what others leave idle
  kSizes,         // the least and most GPUs that it can use
  kScaling,       // how its speed grows with the number of GPUs
  kGpuTypes,      // how its speed depends on the type of GPU
  kLocality,      // how its speed depends on the number of nodes
  kProfile,       // what it does to a GPU: use, memory
  kPairs,         // how fast it is when co-located with another job
  kStageTimes,    // how its training step divides into storage, CPU, GPU and network
  kHost,          // the CPU cores and memory that it wants
  kForecast,      // how many jobs and GPUs will be asked for
  kNodeForecast,  // how many nodes will be in use
  kPrices,        // what GPUs cost
};

struct KnowledgeInfo {
  Knowledge which;
  std::string_view name;      // as in "needs NAME": "estimates of run times"
  std::string_view sentence;  // what exactly is known
  // One job of which it is known is enough: others do without, as a matter of course.
  bool of_some = false;
};

std::span<const KnowledgeInfo> knowledge_list();
const KnowledgeInfo& info_of(Knowledge which);

struct Need {
  Knowledge of;
  // What the policy does where it is not known, as in "then SENTENCE"; empty: the run is refused.
  std::string_view otherwise = {};
  // What it does then takes the duration of jobs instead.
  bool otherwise_clairvoyant = false;

  bool refuses() const { return otherwise.empty(); }
  friend bool operator==(const Need&, const Need&) = default;
};

using Needs = std::span<const Need>;

bool lists(Needs needs, Knowledge which);
// Knows how long jobs will run, which only a simulation can provide.
inline bool clairvoyant(Needs needs) { return lists(needs, Knowledge::kDuration); }

}  // namespace muster
