// The batch script of a job that was submitted here.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "backend/live/executor.h"

namespace muster {

// One word of a POSIX shell that means exactly this text.
std::string shell_word(std::string_view text);

// Runs the order's command with what the local executor gives its ranks, too, but for the job
// socket. Which launch it is and how many ranks it has changes from start to start: the script
// reads both from the comment of its job. Output goes to `logs`/JOB.LAUNCH/rank-N.log where that
// folder is seen on the node, and else beside the job as Slurm does it.
std::string batch_script(const RunOrder& order, const std::filesystem::path& logs);

}  // namespace muster
