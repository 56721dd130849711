#include <algorithm>
#include <map>

#include "policy/gavel/simple_allocators.h"

namespace muster {
namespace {

// Source: AlloX (EuroSys'20), as Gavel has it. Jobs are assigned to places in the queues of the
// free GPUs so that the sum of completion times is least: the job that is i-th from the end of a
// queue delays i jobs, itself included, by its run time there. The first of each queue gets the GPU
// and keeps it to its end; the others are planned anew next time.
//
// Jobs of one GPU only. Where several are asked for, a job is planned like any other except for the
// count that it takes; the published code gives up.
class Allox final : public Allocator {
 public:
  Allox(double alpha, QueueAssigner assigner) : alpha_(alpha), assigner_(assigner) {}
  AllocatorTraits traits() const override { return {}; }

  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    keep(problem, allocation);
    std::vector<std::size_t> workers;  // the type of each free GPU
    for (std::size_t w = 0; w < problem.types; ++w) {
      for (int i = 0; i < free_[w]; ++i) workers.push_back(w);
    }
    std::stable_sort(waiting_.begin(), waiting_.end(), [&](std::size_t a, std::size_t b) {
      return problem.jobs[a].age > problem.jobs[b].age;
    });
    const std::size_t n = workers.size();
    // Only the oldest fraction alpha of the waiting jobs is planned (but at least one for each free
    // GPU), so that short jobs cannot pass old ones for ever.
    const auto most = static_cast<std::size_t>(alpha_ * static_cast<double>(waiting_.size()));
    if (waiting_.size() > std::max(most, n)) waiting_.resize(std::max(most, n));
    if (n > 0 && !waiting_.empty()) assign(problem, workers, allocation);
    remember(problem, allocation);
  }
  bool checkpoint(Archive& archive) override {
    archive.map(held_);
    return true;
  }
  std::unique_ptr<Allocator> clone() const override { return std::make_unique<Allox>(*this); }

 private:
  void keep(const AllocationProblem& problem, Allocation& allocation) {
    free_ = problem.capacity;
    waiting_.clear();
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      const auto held = held_.find(problem.jobs[j].id);
      if (held == held_.end()) {
        waiting_.push_back(j);
        continue;
      }
      allocation.alone[j * problem.types + held->second] = 1;
      free_[held->second] -= problem.jobs[j].gpus;
    }
  }

  void assign(const AllocationProblem& problem, const std::vector<std::size_t>& workers,
              Allocation& allocation) {
    const std::size_t m = waiting_.size();
    const std::size_t n = workers.size();
    runs_.clear();
    ages_.clear();
    for (const std::size_t j : waiting_) {
      const AllocationJob& job = problem.jobs[j];
      for (const std::size_t w : workers) {
        const double rate = problem.rate(j, w);
        // A job that cannot run on a type gets a huge but finite run time there, so that the
        // assignment stays feasible.
        runs_.push_back(job.steps_left / (rate == 0 ? 1e-10 : rate));
      }
      ages_.push_back(job.age);
    }
    // An assignment problem, O(jobs^2 (jobs + GPUs)); see solve/queue_assignment.h.
    const std::vector<std::size_t> column = assigner_(runs_, ages_, n);
    // The head of a queue is the one furthest from its end.
    std::vector<std::size_t> head(n, m);
    for (std::size_t i = 0; i < m; ++i) {
      std::size_t& first = head[column[i] % n];
      if (first == m || column[i] / n > column[first] / n) first = i;
    }
    for (std::size_t k = 0; k < n; ++k) {
      if (head[k] == m) continue;
      const std::size_t j = waiting_[head[k]];
      const std::size_t w = workers[k];
      if (problem.jobs[j].gpus > free_[w]) continue;
      free_[w] -= problem.jobs[j].gpus;
      allocation.alone[j * problem.types + w] = 1;
    }
  }

  void remember(const AllocationProblem& problem, const Allocation& allocation) {
    held_.clear();
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      for (std::size_t w = 0; w < problem.types; ++w) {
        if (allocation.alone[j * problem.types + w] == 1) held_[problem.jobs[j].id] = w;
      }
    }
  }

  double alpha_;
  QueueAssigner assigner_;
  std::map<JobId, std::size_t> held_;
  std::vector<int> free_;
  std::vector<std::size_t> waiting_;
  std::vector<double> runs_;
  std::vector<double> ages_;
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_allox(double alpha, QueueAssigner assigner) {
  return std::make_unique<Allox>(alpha, assigner);
}

}  // namespace muster
