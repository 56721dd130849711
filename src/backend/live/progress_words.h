// Turns a job's message about its work, in the job protocol (docs/job-protocol.md), into a report.
#pragma once

#include <string_view>

#include "backend/live/executor.h"

namespace muster {

// False if the line is about something else. The latest of each is kept.
bool hear_progress(ProgressReport& progress, std::string_view line);

}  // namespace muster
