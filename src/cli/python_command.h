// Policies written in Python: the command hands its whole command line to the Python package, which
// is the same command in a process that can run them (python/muster/__main__.py).
#pragma once

#include <optional>

namespace muster {

// Does nothing unless a policy of the command line is a FILE.py:NAME and this process cannot run
// it. Otherwise it does not return, or returns the exit status after a complaint.
std::optional<int> hand_to_python(int argc, char** argv);

}  // namespace muster
