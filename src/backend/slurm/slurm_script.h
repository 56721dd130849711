// The batch script of a job that was submitted here.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "backend/live/executor.h"

namespace muster {

// One word of a POSIX shell that means exactly this text.
std::string shell_word(std::string_view text);

// Runs the order's command with what the local executor gives its ranks, too, except for the job
// socket, in place of which are files in MUSTER_LAUNCH_FOLDER (rank_words.h). Which launch it is
// and how many ranks it has changes from start to start: the script reads both from the comment of
// its job, which begins with `mark` (mark.h). Output goes to `runs`/JOB.LAUNCH/rank-N.log where
// that folder is seen on the node, and else beside the job as Slurm does it.
//
// A controller that is killed forgets the starts of its last seconds, while their processes go on.
// So the script itself sees to it that its job never runs twice: where `runs` is seen on the node
// it waits for an earlier start of the job to be gone, does nothing where that one has finished,
// and leaves a record of its own end (slurm_record.h). Where the job is to go on with fewer of its
// nodes, the script waits for that and starts the next launch itself. Before a GPU is used, it must
// be free of other jobs of the same daemon.
std::string batch_script(const RunOrder& order, const std::filesystem::path& runs,
                         const std::string& mark);

}  // namespace muster
