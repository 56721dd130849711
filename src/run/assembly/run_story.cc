#include "run/assembly/run_story.h"

#include "model/checkpoint.h"

namespace muster {
namespace {

enum class Kind : std::uint8_t { kDecision, kPlacement, kJob, kTurn };

}  // namespace

void RunStory::on_decision(const Decision& decision) {
  if (closed_) return;
  Kind kind = Kind::kDecision;
  Decision kept = decision;
  told_.value(kind);
  told_.value(kept);
}

void RunStory::on_placement(const Decision& decision, const GpuSet& gpus) {
  if (closed_) return;
  Kind kind = Kind::kPlacement;
  Decision kept = decision;
  GpuSet held = gpus;
  told_.value(kind);
  told_.value(kept);
  checkpoint(told_, held);
}

void RunStory::on_job_end(const JobRecord& job) {
  if (closed_) return;
  Kind kind = Kind::kJob;
  JobRecord kept = job;
  told_.value(kind);
  checkpoint(told_, kept);
}

void RunStory::on_turn(const TurnStats& turn) {
  if (closed_) return;
  Kind kind = Kind::kTurn;
  TurnStats kept = turn;
  told_.value(kind);
  told_.value(kept);
}

Status tell_story(std::string_view bytes, std::span<Observer* const> observers) {
  Archive story(bytes);
  while (story.good() && !story.finished()) {
    Kind kind{};
    story.value(kind);
    if (kind == Kind::kJob) {
      JobRecord job;
      checkpoint(story, job);
      for (Observer* observer : observers) observer->on_job_end(job);
      continue;
    }
    if (kind == Kind::kTurn) {
      TurnStats turn;
      story.value(turn);
      for (Observer* observer : observers) observer->on_turn(turn);
      continue;
    }
    Decision decision;
    story.value(decision);
    if (kind == Kind::kDecision) {
      for (Observer* observer : observers) observer->on_decision(decision);
      continue;
    }
    GpuSet gpus;
    checkpoint(story, gpus);
    for (Observer* observer : observers) observer->on_placement(decision, gpus);
  }
  if (!story.good()) return Error{"its record of events is damaged or cut off"};
  return Done{};
}

}  // namespace muster
