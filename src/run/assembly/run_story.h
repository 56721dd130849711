// What a run has told its observers, kept as bytes. A restored run tells it again, so that its
// results cover the whole run and not only the rest.
#pragma once

#include <span>
#include <string>

#include "base/archive.h"
#include "base/result.h"
#include "model/record.h"

namespace muster {

class RunStory final : public Observer {
 public:
  void on_decision(const Decision& decision) override;
  void on_placement(const Decision& decision, const GpuSet& gpus) override;
  void on_job_end(const JobRecord& job) override;
  void on_turn(const TurnStats& turn) override;

  const std::string& bytes() const { return told_.bytes(); }
  // It will not be asked for any more.
  void close() {
    told_ = {};
    closed_ = true;
  }

 private:
  Archive told_;
  bool closed_ = false;
};

// Tells a story again; the error says that the bytes are damaged.
Status tell_story(std::string_view bytes, std::span<Observer* const> observers);

}  // namespace muster
