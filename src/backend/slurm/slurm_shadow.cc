#include "backend/slurm/slurm_shadow.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster {
namespace {

constexpr double kBetweenLooks = 2;  // seconds, and ten times as long as a look takes
constexpr double kBetweenSums = 60;

}  // namespace

SlurmShadow::SlurmShadow(SlurmAccess access, Mailbox& mailbox,
                         std::function<void(const std::string&)> say)
    : control_(std::move(access.control)),
      say_(std::move(say)),
      book_(
          access.partitions, access.cluster,
          [&mailbox](Report report) { mailbox.post(std::move(report)); }, say_, wall_clock()),
      tell_at_(wall_clock() + kBetweenSums) {
  look();
  thread_.begin([this] { return std::clamp(look_at_ - wall_clock(), 0.0, 0.5); },
                [this](bool ending) {
                  if (!ending && wall_clock() >= look_at_) look();
                  book_.pass(wall_clock());
                });
}

SlurmShadow::~SlurmShadow() {
  thread_.end();
  say_("shadow: " + book_.gain());
}

Abilities SlurmShadow::abilities() const {
  Abilities abilities;
  abilities.chooses_gpus = true;
  return abilities;
}

void SlurmShadow::prepare(const RunOrder& order) {
  thread_.later([this, order] { book_.prepare(order); });
}
void SlurmShadow::go(RunId run) {
  thread_.later([this, run] { book_.go(run, wall_clock()); });
}
void SlurmShadow::stop(RunId run, Grace) {
  thread_.later([this, run] { book_.stop(run, wall_clock()); });
}
void SlurmShadow::census(std::uint64_t number) {
  thread_.later([this, number] { book_.census(number); });
}
void SlurmShadow::acknowledge(RunId run) {
  thread_.later([this, run] { book_.acknowledge(run); });
}

void SlurmShadow::look() {
  const double begun = wall_clock();
  const auto jobs = control_->jobs();
  const auto nodes = jobs ? control_->nodes() : Result<SlurmRows<SlurmNode>>(jobs.error());
  const double now = wall_clock();
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

}  // namespace muster
