#include "daemon/committer.h"

#include <future>
#include <utility>

namespace muster {

Committer::Committer(Store& store) : store_(store), thread_([this] { work(); }) {}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_one();
  thread_.join();
}

void Committer::submit(Batch batch, Told told) {
  {
    const std::lock_guard lock(mutex_);
    batches_.push_back(std::move(batch));
    told_.push_back(std::move(told));
  }
  arrived_.notify_one();
}

Status Committer::commit(Batch batch) {
  std::promise<Status> answer;
  submit(std::move(batch), [&answer](const Status& status) { answer.set_value(status); });
  return answer.get_future().get();
}

void Committer::look(std::function<void(Store&)> work) {
  {
    const std::lock_guard lock(mutex_);
    looks_.push_back(std::move(work));
  }
  arrived_.notify_one();
}

Result<StoredWorld> Committer::load() {
  std::promise<Result<StoredWorld>> answer;
  look([&answer](Store& store) { answer.set_value(store.load()); });
  return answer.get_future().get();
}

Result<std::vector<StoredDecision>> Committer::decisions(JobId job) {
  std::promise<Result<std::vector<StoredDecision>>> answer;
  look([&answer, job](Store& store) { answer.set_value(store.decisions(job)); });
  return answer.get_future().get();
}

void Committer::work() {
  while (true) {
    std::vector<Batch> batches;
    std::vector<Told> told;
    std::vector<std::function<void(Store&)>> looks;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [&] { return ending_ || !batches_.empty() || !looks_.empty(); });
      if (batches_.empty() && looks_.empty()) return;
      batches.swap(batches_);
      told.swap(told_);
      looks.swap(looks_);
    }
    if (!batches.empty()) {
      const Status status = store_.commit(batches);
      for (const Told& tell : told) {
        if (tell) tell(status);
      }
    }
    for (const std::function<void(Store&)>& look : looks) look(store_);
  }
}

}  // namespace muster
