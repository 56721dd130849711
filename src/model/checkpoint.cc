#include "model/checkpoint.h"

#include <algorithm>

namespace muster {

void checkpoint(Archive& archive, GpuSet& gpus) {
  std::vector<NodeGpus> parts;
  parts.reserve(static_cast<std::size_t>(gpus.nodes()));
  for (int i = 0; i < gpus.nodes(); ++i) parts.push_back(gpus[i]);
  archive.list(parts);
  if (!archive.reading()) return;
  gpus.clear();
  for (const NodeGpus& part : parts) gpus.add(part.node, part.mask);
}

void checkpoint(Archive& archive, JobSpec& job) {
  archive.value(job.id);
  archive.value(job.submit);
  archive.value(job.arrival);
  archive.value(job.duration);
  archive.value(job.gpus);
  archive.value(job.min_gpus);
  archive.value(job.max_gpus);
  archive.value(job.deadline);
  archive.value(job.value);
  archive.list(job.later);
  archive.value(job.estimate);
  archive.value(job.cpus);
  archive.value(job.memory_gb);
  archive.value(job.iterations);
  archive.value(job.step_ms);
  archive.value(job.stage_ms);
  archive.value(job.batch_size);
  archive.value(job.priority);
  archive.value(job.model);
  archive.value(job.user);
  archive.value(job.partition);
  archive.value(job.gpu_type);
  archive.text(job.name);
  archive.value(job.believed);
  TrueLength truth = *job.truth;
  archive.value(truth.duration);
  archive.value(truth.iterations);
  archive.value(truth.work);
  if (archive.reading()) job.truth.set(truth);
}

void checkpoint(Archive& archive, Job& job) {
  checkpoint(archive, job.spec);
  archive.value(job.self);
  archive.value(job.state);
  archive.value(job.total_work);
  archive.value(job.work);
  archive.value(job.rate);
  archive.value(job.since);
  archive.value(job.saved_work);
  archive.value(job.added_work);
  checkpoint(archive, job.gpus);
  archive.value(job.host);
  archive.value(job.held_since);
  archive.value(job.held_before);
  archive.value(job.gpu_seconds_before);
  archive.value(job.waiting_since);
  archive.value(job.waited_before);
  archive.value(job.admitted);
  archive.value(job.first_start);
  archive.value(job.preemptions);
  archive.value(job.restarts);
  archive.value(job.crashes);
  archive.value(job.resizes);
  archive.value(job.lost_work);
  archive.value(job.overhead);
  archive.value(job.launch);
  archive.value(job.ended);
  archive.value(job.failed_starts);
  archive.value(job.start_order);
  archive.value(job.joined);
  archive.value(job.opportunistic);
  archive.value(job.next_co_located);
}

void checkpoint(Archive& archive, JobRecord& record) {
  archive.value(record.id);
  archive.text(record.name);
  archive.value(record.submit);
  archive.value(record.arrival);
  archive.value(record.start);
  archive.value(record.end);
  archive.value(record.queue);
  archive.value(record.gpus);
  archive.value(record.status);
  archive.value(record.reason);
  archive.value(record.preemptions);
  archive.value(record.restarts);
  archive.value(record.resizes);
  archive.value(record.duration);
  archive.value(record.gpu_seconds);
  archive.value(record.cost);
  archive.value(record.lost_work);
  archive.value(record.overhead);
  archive.value(record.deadline);
  archive.value(record.done);
  archive.value(record.value);
  archive.value(record.best_value);
  archive.value(record.priority);
  archive.value(record.user);
  archive.value(record.partition);
  archive.value(record.model);
}

void checkpoint(Archive& archive, SlotList& list) {
  archive.list(list.next_);
  archive.list(list.previous_);
  archive.value(list.first_);
  archive.value(list.last_);
  archive.value(list.size_);
}

namespace {

// Whether a job that was read can live in the slot: what it points to is there.
bool sound(const Job& job, std::size_t slot, std::size_t slots) {
  return index(job.self) == slot && index(job.next_co_located) < slots &&
         job.state <= JobState::kCancelled;
}

}  // namespace

// Whether one can walk along it, both ways.
bool SlotList::sound(std::size_t slots) const {
  if (next_.size() != slots || previous_.size() != slots) return false;
  std::size_t seen = 0;
  Slot before = kNoSlot;
  for (Slot at = first_; at != kNoSlot; at = next_[index(at)], ++seen) {
    if (index(at) >= slots || seen == slots || previous_[index(at)] != before) return false;
    before = at;
  }
  return before == last_ && seen == size_;
}

void checkpoint(Archive& archive, JobTable& jobs) {
  archive.each(jobs.jobs_, [&archive](Job& job) { checkpoint(archive, job); });
  archive.list(jobs.vacant_);
  checkpoint(archive, jobs.active_);
  checkpoint(archive, jobs.running_);
  checkpoint(archive, jobs.waiting_);
  if (!archive.reading()) return;
  const std::size_t slots = jobs.jobs_.size();
  for (std::size_t i = 0; i < slots; ++i) archive.require(sound(jobs.jobs_[i], i, slots));
  for (const Slot slot : jobs.vacant_) archive.require(index(slot) < slots);
  for (const SlotList* list : {&jobs.active_, &jobs.running_, &jobs.waiting_}) {
    archive.require(list->sound(slots));
  }
}

// What the nodes are in is written; how they are sorted follows from it.
void checkpoint(Archive& archive, ClusterState& cluster) {
  archive.mark(cluster.nodes_.size());
  const std::vector<ClusterState::Node> described = cluster.nodes_;
  archive.each(cluster.nodes_, [&archive](ClusterState::Node& node) {
    archive.value(node.free);
    archive.value(node.held);
    archive.value(node.healthy);
    archive.value(node.free_cpus);
    archive.value(node.free_memory);
    archive.value(node.pool);
    archive.value(node.up);
    archive.value(node.drained);
  });
  archive.list(cluster.quota_used_);
  archive.value(cluster.used_);
  archive.value(cluster.host_binds_);
  if (!archive.reading()) return;
  archive.require(cluster.nodes_.size() == described.size() &&
                  cluster.quota_used_.size() == cluster.quota_.size());
  for (std::size_t i = 0; archive.good() && i < described.size(); ++i) {
    const ClusterState::Node& node = cluster.nodes_[i];
    const int gpus = cluster.spec_->nodes[i].gpus;
    const std::uint64_t all =
        gpus == kMaxGpusPerNode ? ~std::uint64_t{0} : (std::uint64_t{1} << gpus) - 1;
    archive.require(node.pool == described[i].pool &&
                    ((node.free | node.held | node.healthy) & ~all) == 0);
  }
  if (archive.good()) {
    cluster.sort_nodes();
  } else {
    cluster.nodes_ = described;
  }
}

}  // namespace muster
