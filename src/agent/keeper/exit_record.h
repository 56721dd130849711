// How a launch ended on its node, as a file: written once, durably, when nothing of the launch is
// left. Whoever starts later learns from it what happened meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace muster {

// What a rank left behind: an exit code or a signal.
struct RankExit {
  int rank = 0;
  int code = -1;   // -1: it ended by a signal, or never ran
  int signal = 0;  // 0: none
};

enum class KeeperOutcome : std::uint8_t {
  kFinished,
  kStopped,   // left because it was told to, or asked to be started again
  kFailed,    // by its own fault
  kReturned,  // it never started
};
std::string_view keeper_outcome_name(KeeperOutcome outcome);

struct ExitRecord {
  std::uint32_t job = 0;
  std::uint32_t launch = 0;
  KeeperOutcome outcome = KeeperOutcome::kReturned;
  std::string cause;             // for people: what ended it
  int exit_code = 0;             // of the first rank that failed; 128 + n for signal n
  double seconds = 0;            // from go to the end
  std::int64_t step = -1;        // the last that the job spoke of; -1: it did not
  std::int64_t saved_step = -1;  // its last checkpoint
  std::vector<RankExit> ranks;
  std::vector<std::string> notes;  // what could not be done: limits, log lines lost
};

std::string record_text(const ExitRecord& record);
Result<ExitRecord> parse_record(std::string_view text);

// Writes a record in three steps that survive a crash at any moment: into a file whose space was
// taken beforehand, so that a full disk cannot prevent it, to the disk, and then under its name.
class RecordFile {
 public:
  // Takes the space for the record in `folder`.
  static Result<RecordFile> reserve(const std::filesystem::path& folder);
  RecordFile(RecordFile&& other) noexcept;
  RecordFile& operator=(RecordFile&&) = delete;
  ~RecordFile();

  // May be tried again after a failure.
  Status write(const ExitRecord& record);

 private:
  RecordFile(std::filesystem::path folder, int file) : folder_(std::move(folder)), file_(file) {}

  std::filesystem::path folder_;
  int file_ = -1;
};

}  // namespace muster
