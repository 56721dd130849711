#include "policy/needs.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace muster {
namespace {

constexpr std::array kKnowledge = {
    KnowledgeInfo{Knowledge::kDuration, "run times",
                  "how long each job will run: the truth in a simulation, a belief elsewhere"},
    KnowledgeInfo{Knowledge::kEstimate, "estimates of run times",
                  "how long the owner or a model believes that the job will run; a job without one "
                  "counts as one hour long, and as the policy says where `durations` is true"},
    KnowledgeInfo{Knowledge::kDeadline, "deadlines", "when jobs should be done", true},
    KnowledgeInfo{Knowledge::kPriority, "opportunistic jobs",
                  "which jobs only use what others leave idle: those of a priority below 0", true},
    KnowledgeInfo{Knowledge::kSizes, "elastic jobs", "the least and most GPUs that a job can use",
                  true},
    KnowledgeInfo{Knowledge::kScaling, "scaling curves",
                  "how the speed of a job grows with its GPUs"},
    KnowledgeInfo{Knowledge::kGpuTypes, "speeds by GPU type",
                  "how the speed of a job depends on the type of its GPUs"},
    KnowledgeInfo{Knowledge::kLocality, "speeds by number of nodes",
                  "how the speed of a job depends on how far it is spread"},
    KnowledgeInfo{Knowledge::kProfile, "workload profiles",
                  "how much of a GPU and of its memory the model of a job uses"},
    KnowledgeInfo{Knowledge::kPairs, "speeds of co-located jobs",
                  "how fast two jobs are on the same GPUs"},
    KnowledgeInfo{Knowledge::kStageTimes, "stage times",
                  "how long a training step uses storage, CPU, GPU and network"},
    KnowledgeInfo{Knowledge::kHost, "CPU and memory demands",
                  "the CPU cores and memory that a job wants in addition to its GPUs", true},
    KnowledgeInfo{Knowledge::kForecast, "a forecast of submissions",
                  "how many jobs and GPUs will be asked for"},
    KnowledgeInfo{Knowledge::kNodeForecast, "a forecast of nodes in use",
                  "how many nodes will be in use"},
    KnowledgeInfo{Knowledge::kPrices, "prices", "what a GPU of each type costs"},
};

}  // namespace

std::span<const KnowledgeInfo> knowledge_list() { return kKnowledge; }

const KnowledgeInfo& info_of(Knowledge which) {
  const KnowledgeInfo& found = kKnowledge[static_cast<std::size_t>(which)];
  assert(found.which == which && "the list is in the order of the enumeration");
  return found;
}

bool lists(Needs needs, Knowledge which) {
  return std::any_of(needs.begin(), needs.end(),
                     [which](const Need& need) { return need.of == which; });
}

}  // namespace muster
