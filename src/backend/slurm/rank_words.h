// The talk with the ranks of a launch through files of its folder, where no socket reaches them:
// the job protocol (docs/job-protocol.md), with lines that are appended to
//
//   words         what the ranks are told; made before they start
//   rank-N.words  what rank N says
//
// All of it is read again by a later daemon, which goes on where this one ended.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent/keeper/job_desk.h"
#include "backend/live/executor.h"

namespace muster {

// Before the launch is started.
Status make_rank_words(const std::filesystem::path& folder);

class RankWords {
 public:
  RankWords(std::filesystem::path folder, RunId run, int ranks);

  // Takes in what ranks have said since; `all`: not the first alone, which speaks for them as long
  // as nobody is to leave. Tells them what follows.
  void hear(bool all);
  // Whether one of them speaks the protocol, and has not said goodbye.
  bool someone_listens() const { return desk_.someone_listens(); }
  // They are to agree on a last step and leave after it.
  void ask_to_leave();
  bool left() const { return desk_.left(); }
  double saved_step() const { return static_cast<double>(desk_.saved_step()); }
  // What is new of their work.
  std::optional<ProgressReport> take_progress();

 private:
  bool hear_line(std::size_t rank, bool greeting);
  void pass_on();

  std::filesystem::path folder_;
  JobDesk desk_;
  ProgressReport progress_;
  bool progressed_ = false;
  bool where_told_ = false;
  bool last_told_ = false;
  struct Heard {
    std::streamoff bytes = 0;
    std::string rest;  // of a line that is not complete
    bool greeted = false;
    bool refused = false;
  };
  std::vector<Heard> ranks_;
};

}  // namespace muster
