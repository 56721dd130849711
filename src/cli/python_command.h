// Policies written in Python: the command hands its whole command line to the Python package, which
// is the same command in a process that can run them (python/muster/__main__.py).
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace muster {

// Does nothing unless a policy of the command line is a FILE.py:NAME and this process cannot run
// it. A daemon gives such policies processes of their own instead. Otherwise it does not return, or
// returns the exit status after a complaint.
std::optional<int> hand_to_python(int argc, char** argv);

// A Python that has the package; the error says where one was looked for.
Result<std::string> find_python();

}  // namespace muster
