// What the batch script of a job that was submitted here leaves in the folder of launches
// (slurm_script.h), for the case that Slurm forgets that it ran, or how it ended:
//
//   JOB.LAUNCH/began        the command was about to be started
//   JOB.LAUNCH/told-to-stop written by the executor, before the launch is told to leave
//   JOB.exit                the launch and the exit status of the last that ended by itself
//   JOB.lock                held by the script that runs
//
// Nodes that do not see the folder leave nothing; then Slurm's word is all there is.
#pragma once

#include <filesystem>
#include <optional>

#include "model/run_id.h"

namespace muster {

inline constexpr int kStartMeAgain = 75;  // the exit status that asks for that

struct SlurmRecord {
  std::uint32_t launch = 0;
  int status = 0;
};

// Empty while there is none, or where it makes no sense.
std::optional<SlurmRecord> read_slurm_record(const std::filesystem::path& runs, JobId job);
bool slurm_launch_began(const std::filesystem::path& runs, RunId run);
// The job has left for good.
void drop_slurm_record(const std::filesystem::path& runs, JobId job);

}  // namespace muster
