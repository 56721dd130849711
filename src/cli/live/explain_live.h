// Why a job of a running daemon is where it is.
#pragma once

#include <string>

#include "cli/live/daemon_link.h"

namespace muster {

int explain_live(const LinkOptions& options, const std::string& job);

}  // namespace muster
