// Admission and placement policies written in Python.
#include <algorithm>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/python_policy.h"

namespace muster::python {
namespace {

class PythonAdmission final : public AdmissionPolicy {
 public:
  explicit PythonAdmission(PythonPolicy policy) : policy_(std::move(policy)) {}
  Needs needs() const override { return policy_.needs(); }
  std::unique_ptr<AdmissionPolicy> clone() const override {
    return std::make_unique<PythonAdmission>(policy_.copy());
  }

  AdmissionAnswer admit(const View& view, const Load& load, const JobSpec& job) override {
    AdmissionAnswer given;
    // The job is not in the table's lists yet; a table of its own shows it in the same columns.
    JobTable single;
    slots_.assign(1, single.add(job));
    single[slots_.front()].total_work = view.perf.total_work(job);
    const View of_job{view.now,  view.turn_length, single,       view.cluster,
                      view.perf, view.forecast,    view.promises};
    policy_.call(view.now, [&](nb::handle call) {
      const Lent<JobsView> lent(of_job, slots_, policy_.symbols());
      const Lent<ClusterView> cluster(view.cluster, policy_.symbols(), load.demanded_gpus);
      const auto answer = nb::cast<std::string>(call(*lent, *cluster, view.now));
      if (answer == "hold") given = {Admission::kHold, Reason::kLoadLimit};
      if (answer == "refuse") given = {Admission::kRefuse, Reason::kLoadLimit};
    });
    return given;
  }

 private:
  PythonPolicy policy_;
  std::vector<Slot> slots_;
};

// "Which free GPUs for this request?"; the walk over the plan is the shared one.
class PythonPlacement final : public WalkingPlacement {
 public:
  explicit PythonPlacement(PythonPolicy policy)
      : WalkingPlacement(policy.flag("backfill")), policy_(std::move(policy)) {}
  PlacementTraits traits() const override { return {.needs = policy_.needs(), .strands = true}; }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<PythonPlacement>(policy_.copy());
  }

 protected:
  bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
            GpuSet& gpus) override {
    const JobSpec& lead = view.jobs[request.lead()].spec;
    const Symbol type = type_of(view, request);
    if (cluster.free_for(lead.partition, type) < request.gpus) return false;
    bool found = false;
    slots_.assign(request.jobs.begin(), request.jobs.begin() + request.size);
    policy_.call(view.now, [&](nb::handle call) {
      const Lent<JobsView> lent(view, slots_, policy_.symbols());
      const Lent<ClusterView> nodes(cluster, policy_.symbols(), 0LL);
      const nb::object answer = call(*lent, *nodes, view.now, request.gpus);
      if (answer.is_none()) return;
      const auto chosen = nb::cast<std::vector<std::pair<std::int64_t, std::int64_t>>>(answer);
      check(view, cluster, chosen, request, pools_for(cluster, lead, type));
      for (const auto& [node, count] : chosen) {
        const NodeId id{static_cast<std::uint32_t>(node)};
        gpus.add(id, lowest_bits(cluster.free_mask(id), static_cast<int>(count)));
      }
      found = true;
    });
    return found;
  }

 private:
  static std::vector<PoolId> pools_for(const ClusterState& cluster, const JobSpec& job,
                                       Symbol type) {
    const auto pools = cluster.pools_for(job.partition, type);
    return {pools.begin(), pools.end()};
  }

  void check(const View& view, const ClusterState& cluster,
             const std::vector<std::pair<std::int64_t, std::int64_t>>& chosen,
             const AllocationRequest& request, const std::vector<PoolId>& pools) const {
    std::int64_t sum = 0;
    std::vector<std::int64_t> nodes;
    for (const auto& [node, count] : chosen) {
      if (node < 0 || static_cast<std::size_t>(node) >= cluster.node_count()) {
        policy_.bad(view.now, fmt::format("named node {}: the cluster has nodes 0 to {}", node,
                                          cluster.node_count() - 1));
      }
      const NodeId id{static_cast<std::uint32_t>(node)};
      if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) {
        policy_.bad(view.now, fmt::format("named node {} twice for one request", node));
      }
      if (count < 1 || count > cluster.free_on(id)) {
        policy_.bad(view.now, fmt::format("took {} GPUs of node {}, which has {} free", count, node,
                                          cluster.free_on(id)));
      }
      if (std::find(pools.begin(), pools.end(), cluster.pool_of(id)) == pools.end()) {
        policy_.bad(view.now, fmt::format("put job {} on node {}, whose partition or GPU type it "
                                          "may not use",
                                          display_name(view.jobs[request.lead()].spec), node));
      }
      nodes.push_back(node);
      sum += count;
    }
    if (sum != request.gpus) {
      policy_.bad(view.now,
                  fmt::format("found {} GPUs for job {}, which needs {}", sum,
                              display_name(view.jobs[request.lead()].spec), request.gpus));
    }
  }

  PythonPolicy policy_;
  std::vector<Slot> slots_;
};

}  // namespace

std::unique_ptr<AdmissionPolicy> make_python_admission(PythonPolicy policy) {
  return std::make_unique<PythonAdmission>(std::move(policy));
}

std::unique_ptr<PlacementPolicy> make_python_placement(PythonPolicy policy) {
  return std::make_unique<PythonPlacement>(std::move(policy));
}

}  // namespace muster::python
