// What `sacct` knows of a job that slurmctld has forgotten: how it ended, and the marks in its
// comments, which tell it from others that had the same number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/slurm/rows.h"

namespace muster {

// The words that ask for it.
std::vector<std::string> accounts_question(std::uint32_t job);
// One row for each time the job was queued, the latest last. Lines that make no sense are left out:
// what users wrote into their comments may break them.
std::vector<SlurmJob> parse_accounts(std::string_view text);

}  // namespace muster
