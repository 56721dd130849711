// What the batch script of a job that was submitted here leaves in the folder of launches
// (slurm_script.h), for the case that Slurm forgets that it ran, or how it ended:
//
//   JOB.LAUNCH/began        the command was about to be started
//   JOB.LAUNCH/told-to-stop written by the executor, before the launch is told to leave
//   JOB.LAUNCH/stay         and that the script is to wait for the next launch, on fewer nodes
//   JOB.LAUNCH/left         all ranks have left, and the script waits
//   JOB.LAUNCH/in-place     written by the executor: the launch that this one follows so
//   JOB.next                the launch that such a script is to begin, in the last line
//   JOB.exit                the launch and the exit status of the last that ended by itself
//   JOB.lock                held by the script that runs
//
// Nodes that do not see the folder leave nothing; then Slurm's word is all there is.
#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"
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
// Whether its script can wait for the next launch: those of earlier releases cannot.
bool slurm_script_can_stay(const std::filesystem::path& runs, RunId run);
// JOB.next, still without a launch.
void make_slurm_next(const std::filesystem::path& runs, JobId job);
// The launch that the script is to begin next; 0: none.
std::uint32_t slurm_next_launch(const std::filesystem::path& runs, JobId job);
Status tell_slurm_next_launch(const std::filesystem::path& runs, RunId run);
// The job has left for good.
void drop_slurm_record(const std::filesystem::path& runs, JobId job);

}  // namespace muster
