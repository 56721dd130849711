#include "backend/slurm/slurm_shadow.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace muster {
namespace {

constexpr double kBetweenLooks = 2;  // seconds, and ten times as long as a look takes
constexpr double kBetweenSums = 60;

double clock_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

SlurmShadow::SlurmShadow(SlurmAccess access, Mailbox& mailbox,
                         std::function<void(const std::string&)> say)
    : control_(std::move(access.control)),
      say_(std::move(say)),
      book_(
          access.partitions, access.cluster,
          [&mailbox](Report report) { mailbox.post(std::move(report)); }, say_, clock_now()),
      tell_at_(clock_now() + kBetweenSums) {
  look();
  thread_ = std::thread([this] { work(); });
}

SlurmShadow::~SlurmShadow() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
  say_("shadow: " + book_.gain());
}

Abilities SlurmShadow::abilities() const {
  Abilities abilities;
  abilities.chooses_gpus = true;
  return abilities;
}

void SlurmShadow::later(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    todo_.push_back(std::move(work));
  }
  wake_.notify_one();
}

void SlurmShadow::prepare(const RunOrder& order) {
  later([this, order] { book_.prepare(order); });
}
void SlurmShadow::go(RunId run) {
  later([this, run] { book_.go(run, clock_now()); });
}
void SlurmShadow::stop(RunId run, Grace) {
  later([this, run] { book_.stop(run, clock_now()); });
}
void SlurmShadow::census(std::uint64_t number) {
  later([this, number] { book_.census(number); });
}
void SlurmShadow::acknowledge(RunId run) {
  later([this, run] { book_.acknowledge(run); });
}

void SlurmShadow::look() {
  const double begun = clock_now();
  const auto jobs = control_->jobs();
  const auto nodes = jobs ? control_->nodes() : Result<SlurmRows<SlurmNode>>(jobs.error());
  const double now = clock_now();
  look_at_ = now + std::max(kBetweenLooks, 10 * (now - begun));
  const std::string trouble = nodes ? "" : nodes.error().message;
  if (trouble != trouble_) say_(trouble.empty() ? "Slurm answers again" : trouble);
  trouble_ = trouble;
  if (nodes) book_.look(jobs->rows, nodes->rows, now);
  if (now < tell_at_) return;
  tell_at_ = now + kBetweenSums;
  if (std::string gain = book_.gain(); gain != told_gain_) {
    say_("shadow: " + gain);
    told_gain_ = std::move(gain);
  }
}

void SlurmShadow::work() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const std::chrono::duration<double> wait(std::clamp(look_at_ - clock_now(), 0.0, 0.5));
    wake_.wait_for(lock, wait, [this] { return ending_ || !todo_.empty(); });
    const std::vector<std::function<void()>> todo = std::exchange(todo_, {});
    const bool ending = ending_;
    lock.unlock();
    for (const std::function<void()>& one : todo) one();
    if (!ending && clock_now() >= look_at_) look();
    book_.pass(clock_now());
    lock.lock();
  }
}

}  // namespace muster
