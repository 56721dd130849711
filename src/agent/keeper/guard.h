// The parent of a keeper. It does nothing but wait: if the keeper is killed, everything that it
// kept becomes the guard's, which ends it and writes the exit record. If the guard is killed the
// keeper ends the launch. So nothing is orphaned whichever of the two dies; for both at the same
// moment see kill_marked in process_tree.h.
#pragma once

#include <string>

namespace muster {

// Keeps the launch whose order is in `folder`; returns the exit status of the program.
int guard_launch(const std::string& folder);

}  // namespace muster
