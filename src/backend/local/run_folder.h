// The folder of one launch on this machine: what the executor writes for its keeper, and what the
// keeper leaves there. Folders are named JOB.LAUNCH.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "agent/keeper/exit_record.h"
#include "agent/keeper/order.h"
#include "model/run_id.h"

namespace muster {

std::string run_folder_name(RunId run);
// Empty for a name that is none.
std::optional<RunId> parse_run_folder(std::string_view name);
// All launches that have a folder in `parent`, in order.
std::vector<RunId> runs_in(const std::filesystem::path& parent);

// Makes the folder and puts the order into it.
Status make_run_folder(const std::filesystem::path& folder, const KeeperOrder& order);
// Starts the program that keeps the launch. It leaves our session by itself and outlives us.
Result<pid_t> start_keeper(const std::filesystem::path& program,
                           const std::filesystem::path& folder);
// How the launch ended; empty while there is no record, an error where it cannot be read.
Result<std::optional<ExitRecord>> read_exit_record(const std::filesystem::path& folder);
// Whether its keeper or the guard above it lives, whichever daemon started them.
bool keeper_lives(const std::filesystem::path& folder);
// Whether its keeper got as far as to listen: before that nothing of the job can have run.
bool keeper_listened(const std::filesystem::path& folder);

// A free port of this machine, for the ranks of a job to meet.
int free_port();

}  // namespace muster
