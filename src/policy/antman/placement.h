// Guaranteed jobs with reservations, and opportunistic jobs co-located with them.
#pragma once

#include <memory>
#include <vector>

#include "policy/placement.h"

namespace muster {

// Source: AntMan (OSDI'20) as Muri's simulator has it. A job with guaranteed resources goes to the
// first node with enough free GPUs; where there is none it reserves what the emptiest node has and
// absorbs what becomes free there until it is complete. One larger than a node reserves whole nodes
// in the same way, also from those behind it that have reserved some of one. Reservations follow
// the order of requests: a job that returns ahead of others takes what they have reserved. An
// opportunistic job (priority below 0) takes GPUs that have no other such job, wherever they are:
// free ones first, then reserved ones, then held ones.
class AntManPlacement : public PlacementPolicy {
 public:
  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             PlacementDraft& draft) override;
  PlacementTraits traits() const override;
  Plan::Depth depth(const ClusterState&, const SchedulingTraits&) const override {
    return Plan::Depth::kAll;
  }
  bool ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const override;
  bool checkpoint(Archive& archive) override {
    archive.list(nodes_);
    archive.lists(gpus_);
    archive.each(reservations_, [&archive](Reservation& one) {
      archive.value(one.job);
      archive.value(one.wanted);
      archive.value(one.number);
      archive.list(one.parts);
    });
    archive.list(running_);
    archive.value(numbers_);
    return true;
  }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<AntManPlacement>(*this);
  }

 protected:
  // What happened to a GPU. A start of a guaranteed job ends its reservation.
  enum class Change { kReserved, kReleased, kStarted, kEnded, kJoined, kLeft };
  virtual void on_change(std::size_t /*node*/, std::size_t /*gpu*/, Change /*change*/) {}
  // The GPUs with the smallest rank are the first for an opportunistic job.
  virtual double rank(std::size_t node, std::size_t gpu) const;
  // Whether those behind give back what they have reserved of a node that an earlier request could
  // have as a whole.
  virtual bool opens_nodes() const { return true; }

 private:
  struct Node {
    std::uint64_t usable = 0;
    std::uint64_t held = 0;      // by a guaranteed job that runs
    std::uint64_t reserved = 0;  // for one that waits
    bool allowed = true;         // to the job in question
    std::uint64_t open() const { return allowed ? usable & ~held & ~reserved : 0; }
  };
  struct Gpu {
    JobId holder = kNoJob;  // runs; guaranteed
    JobId opportunistic = kNoJob;
  };
  struct Reservation {
    JobId job = kNoJob;
    int wanted = 0;
    std::uint64_t number = 0;  // ascending, in order of the requests; 0: to be made anew
    std::vector<NodeGpus> parts;
    int gpus() const {
      int sum = 0;
      for (const NodeGpus& part : parts) sum += part.count();
      return sum;
    }
  };
  struct Candidate {
    double rank;
    std::size_t node;
    std::size_t gpu;
  };

  // If a plan names all jobs that may run: a job that runs at the requested size stays, as far as
  // the number of GPUs goes.
  static void stop_the_rest(const View& view, const Plan& plan, PlacementDraft& draft);
  // Brings the picture of the nodes up to date; reservations on GPUs that failed, or of jobs that
  // left, are dropped.
  void look(const View& view, const PlacementDraft& draft);
  void keep_order(const View& view, const Plan& plan, const PlacementDraft& draft);
  void forget_gone();
  void note(const Job& job);
  void drop(Reservation& reservation);
  void release(Reservation& reservation);
  bool open_up(std::size_t node, const Reservation& reservation);
  // Leaves to the request what its partition and GPU type allow.
  void allow(const View& view, const PlacementDraft& draft, const AllocationRequest& request);
  // Whether what such a request has on this node can have its cores and memory beside it.
  static bool has_room(const ClusterState& cluster, NodeId id, const HostResources& host, int gpus,
                       int largest);
  bool gone(JobId job) const;
  void change(NodeId node, std::uint64_t mask, Change change);
  void reserve(Reservation& reservation, std::size_t node, std::uint64_t mask);
  bool guarantee(const AllocationRequest& request, JobId id, PlacementDraft& draft);
  // Whole nodes for as much of `missing` as there are; returns what is still missing.
  int reserve_nodes(Reservation& reservation, int missing);
  // `part` GPUs on one node, of which `missing` are not reserved yet; returns how many still are
  // not. Once some of a node is reserved, only that one will do.
  int reserve_on_one(Reservation& reservation, int part, int missing);
  int take_from(Reservation& reservation, std::size_t node, int missing);
  bool start_opportunistic(const AllocationRequest& request, JobId id, PlacementDraft& draft);

  std::vector<Node> nodes_;
  std::vector<std::vector<Gpu>> gpus_;     // by node
  std::vector<Reservation> reservations_;  // by slot
  std::vector<JobId> running_;             // ascending
  std::vector<Candidate> candidates_;
  int largest_ = 1;        // GPUs of the largest node that is allowed
  int largest_nodes_ = 0;  // how many of those are allowed
  std::uint64_t numbers_ = 0;
};

}  // namespace muster
