#include "backend/live/shadow_executor.h"

#include <bit>

#include <fmt/format.h>

namespace muster {
namespace {

std::string gpus_in_words(const GpuSet& gpus) {
  std::string text;
  for (int i = 0; i < gpus.nodes(); ++i) {
    for (std::uint64_t mask = gpus[i].mask; mask != 0; mask &= mask - 1) {
      text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", index(gpus[i].node),
                          std::countr_zero(mask));
    }
  }
  return text;
}

}  // namespace

ShadowExecutor::ShadowExecutor(Mailbox& mailbox, std::function<void(const std::string&)> say)
    : mailbox_(mailbox), say_(std::move(say)), thread_([this] { work(); }) {}

ShadowExecutor::~ShadowExecutor() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ShadowExecutor::tell(RunId run, RunEvent event, RunOutcome outcome) {
  RunReport report;
  report.run = run;
  report.event = event;
  report.outcome = outcome;
  report.detail = "pretended";
  mailbox_.post(report);
}

void ShadowExecutor::prepare(const RunOrder& order) {
  {
    const std::lock_guard lock(mutex_);
    runs_[order.run].seconds = order.believed;
  }
  say_(fmt::format("would start job {}, launch {}, on GPUs {}", index(order.run.job),
                   order.run.launch, gpus_in_words(order.gpus)));
  tell(order.run, RunEvent::kReady);
}

void ShadowExecutor::go(RunId run) {
  {
    const std::lock_guard lock(mutex_);
    Pretended& pretended = runs_[run];
    pretended.started = true;
    pretended.ends = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(pretended.seconds));
  }
  changed_.notify_one();
  tell(run, RunEvent::kStarted);
}

void ShadowExecutor::stop(RunId run, Grace) {
  bool started = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(run);
    started = found != runs_.end() && found->second.started;
    if (found != runs_.end()) runs_.erase(found);
  }
  say_(fmt::format("would stop job {}, launch {}", index(run.job), run.launch));
  tell(run, started ? RunEvent::kExited : RunEvent::kStartFailed);
}

void ShadowExecutor::census(std::uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [run, pretended] : runs_) {
      tell(run, pretended.started ? RunEvent::kSeenRunning : RunEvent::kSeenReady);
    }
  }
  mailbox_.post(CensusReport{number, true});
}

void ShadowExecutor::acknowledge(RunId run) {
  const std::lock_guard lock(mutex_);
  runs_.erase(run);
}

void ShadowExecutor::work() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    auto next = Clock::now() + std::chrono::hours(1);
    for (auto run = runs_.begin(); run != runs_.end();) {
      if (run->second.ends <= Clock::now()) {
        tell(run->first, RunEvent::kExited, RunOutcome::kFinished);
        run = runs_.erase(run);
        continue;
      }
      next = std::min(next, run->second.ends);
      ++run;
    }
    changed_.wait_until(lock, next);
  }
}

}  // namespace muster
