#include "policy/placement/yarn.h"

#include "artifacts/variant.h"

namespace muster {
namespace {

// The memory of training processes, as Tiresias' simulator has it.
class TrainingMemory final : public NodeMemory {
 public:
  double on_one_node(int) const override { return kWorkerGb; }
  // Of several nodes each GPU has a worker and a parameter server.
  double beside_each_gpu(int gpus) const override {
    constexpr double kServerGb = 6;
    constexpr double kPerWorkerGb = 0.1;
    return kServerGb + gpus * kPerWorkerGb + kWorkerGb;
  }

 private:
  static constexpr double kWorkerGb = 5;
};

// Tiresias' simulator also counts memory, but forgets to give it back when it fills the cluster
// anew: only a job that ends returns what it took last. Its preemptive policies come to a
// standstill that way.
class LeakingYarn final : public Yarn {
 public:
  PlacementTraits traits() const override {
    PlacementTraits traits = Yarn::traits();
    traits.stable_between_events = false;  // each turn takes memory
    traits.strands = true;
    return traits;
  }
  Plan::Depth depth(const ClusterState&, const SchedulingTraits&) const override {
    return Plan::Depth::kAll;
  }
  bool checkpoint(Archive& archive) override {
    archive.list(memory_.free_gb);
    archive.each(lent_, [&archive](Lent& one) {
      archive.value(one.slot);
      archive.value(one.job);
      archive.list(one.parts);
    });
    return true;
  }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<LeakingYarn>(*this);
  }

 protected:
  NodeMemory* memory(const View& view) override {
    std::vector<double>& free = memory_.free_gb;
    for (std::size_t i = free.size(); i < view.cluster.node_count(); ++i) {
      free.push_back(view.cluster.node(NodeId{static_cast<std::uint32_t>(i)}).memory_gb);
    }
    for (const Lent& lent : lent_) {
      const Job& job = view.jobs[lent.slot];
      if (job.spec.id == lent.job && (job.running() || job.waiting())) continue;
      for (const NodePart& part : lent.parts) free[index(part.node)] += part.memory_gb;
    }
    lent_.clear();
    return &memory_;
  }
  void gave(const View& view, const AllocationRequest& request,
            std::span<const NodePart> parts) override {
    lent_.push_back(
        {request.lead(), view.jobs[request.lead()].spec.id, {parts.begin(), parts.end()}});
  }

 private:
  // The memory of a job, as of the last turn in which it was placed.
  struct Lent {
    Slot slot;
    JobId job;
    std::vector<NodePart> parts;
  };
  TrainingMemory memory_;
  std::vector<Lent> lent_;
};

}  // namespace

PolicyInfo<PlacementPolicy> yarn_as_coded_row() {
  return variant_of<PlacementPolicy>(
      placement_table(), "yarn", "yarn-as-coded",
      "as yarn, and memory is counted and never given back while jobs run",
      [](const Params&) -> std::unique_ptr<PlacementPolicy> {
        return std::make_unique<LeakingYarn>();
      });
}

}  // namespace muster
