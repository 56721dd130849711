// Admission and placement policies from outside the tree.
#include <algorithm>

#include <fmt/format.h>

#include "policy/failure.h"
#include "policy/outside/outside_policies.h"
#include "policy/placement/search.h"

namespace muster {
namespace {

class OutsideAdmission final : public AdmissionPolicy {
 public:
  OutsideAdmission(Outside policy, OnFailure rule) : policy_(std::move(policy)), rule_(rule) {}
  Needs needs() const override { return policy_->declared().needs; }
  std::unique_ptr<AdmissionPolicy> clone() const override {
    return std::make_unique<OutsideAdmission>(*this);
  }

  AdmissionAnswer admit(const View& view, const Load& load, const JobSpec& job) override {
    try {
      return ask(view, load, job);
    } catch (const PolicyFailure&) {
      if (rule_ == OnFailure::kEndRun) throw;
      return {};
    }
  }

 private:
  AdmissionAnswer ask(const View& view, const Load& load, const JobSpec& job) {
    // The job is not in the table's lists yet; a table of its own shows it in the same columns.
    JobTable single;
    slots_.assign(1, single.add(job));
    single[slots_.front()].total_work = view.perf.total_work(job);
    const View of_job{view.now,  view.turn_length, single,       view.cluster,
                      view.perf, view.forecast,    view.promises};
    PolicyQuestion question;
    question.now = view.now;
    question.view = &of_job;
    question.slots = &slots_;
    question.cluster = &view.cluster;
    question.demanded = load.demanded_gpus;
    policy_->ask(question, answer_);
    if (answer_.word == "hold") return {Admission::kHold, Reason::kLoadLimit};
    if (answer_.word == "refuse") return {Admission::kRefuse, Reason::kLoadLimit};
    if (answer_.word != "accept") {
      policy_->bad(view.now,
                   fmt::format("answered '{}', expected accept, hold or refuse", answer_.word));
    }
    return {};
  }

  Outside policy_;
  OnFailure rule_;
  PolicyAnswer answer_;
  std::vector<Slot> slots_;
};

// "Which free GPUs for this request?"; the walk over the plan is the shared one.
class OutsidePlacement final : public WalkingPlacement {
 public:
  OutsidePlacement(Outside policy, OnFailure rule)
      : WalkingPlacement(policy->declared().backfill), policy_(std::move(policy)), rule_(rule) {}
  PlacementTraits traits() const override {
    return {.needs = policy_->declared().needs, .strands = true};
  }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<OutsidePlacement>(*this);
  }

 protected:
  bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
            GpuSet& gpus) override {
    const Symbol type = type_of(view, request);
    if (cluster.free_for(view.jobs[request.lead()].spec.partition, type) < request.gpus) {
      return false;
    }
    try {
      return ask(view, cluster, request, gpus);
    } catch (const PolicyFailure&) {
      if (rule_ == OnFailure::kEndRun) throw;
      return find_fewest_nodes(cluster, pools_of(view, cluster, request), request.gpus, gpus);
    }
  }

 private:
  bool ask(const View& view, const ClusterState& cluster, const AllocationRequest& request,
           GpuSet& gpus) {
    slots_.assign(request.jobs.begin(), request.jobs.begin() + request.size);
    PolicyQuestion question;
    question.now = view.now;
    question.view = &view;
    question.slots = &slots_;
    question.cluster = &cluster;
    question.gpus = request.gpus;
    policy_->ask(question, answer_);
    if (answer_.nothing) return false;
    check(view, cluster, request);
    for (std::size_t i = 0; i < answer_.integers.size(); i += 2) {
      const NodeId id{static_cast<std::uint32_t>(answer_.integers[i])};
      const auto count = static_cast<int>(answer_.integers[i + 1]);
      gpus.add(id, lowest_bits(cluster.free_mask(id), count));
    }
    return true;
  }

  void check(const View& view, const ClusterState& cluster, const AllocationRequest& request) {
    const auto pools = pools_of(view, cluster, request);
    const std::string job = display_name(view.jobs[request.lead()].spec);
    std::int64_t sum = 0;
    std::vector<std::int64_t> nodes;
    if (answer_.integers.size() % 2 != 0) policy_->bad(view.now, "returned half a pair");
    for (std::size_t i = 0; i < answer_.integers.size(); i += 2) {
      const std::int64_t node = answer_.integers[i];
      const std::int64_t count = answer_.integers[i + 1];
      if (node < 0 || static_cast<std::size_t>(node) >= cluster.node_count()) {
        policy_->bad(view.now, fmt::format("named node {}: the cluster has nodes 0 to {}", node,
                                           cluster.node_count() - 1));
      }
      const NodeId id{static_cast<std::uint32_t>(node)};
      if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) {
        policy_->bad(view.now, fmt::format("named node {} twice for one request", node));
      }
      if (count < 1 || count > cluster.free_on(id)) {
        policy_->bad(view.now, fmt::format("took {} GPUs of node {}, which has {} free", count,
                                           node, cluster.free_on(id)));
      }
      if (std::find(pools.begin(), pools.end(), cluster.pool_of(id)) == pools.end()) {
        policy_->bad(view.now, fmt::format("put job {} on node {}, whose partition or GPU type it "
                                           "may not use",
                                           job, node));
      }
      nodes.push_back(node);
      sum += count;
    }
    if (sum != request.gpus) {
      policy_->bad(view.now,
                   fmt::format("found {} GPUs for job {}, which needs {}", sum, job, request.gpus));
    }
  }

  Outside policy_;
  OnFailure rule_;
  PolicyAnswer answer_;
  std::vector<Slot> slots_;
};

}  // namespace

std::unique_ptr<AdmissionPolicy> make_outside_admission(Outside policy, OnFailure rule) {
  return std::make_unique<OutsideAdmission>(std::move(policy), rule);
}

std::unique_ptr<PlacementPolicy> make_outside_placement(Outside policy, OnFailure rule) {
  return std::make_unique<OutsidePlacement>(std::move(policy), rule);
}

}  // namespace muster
