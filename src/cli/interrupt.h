// Ctrl-C: the first asks the work to stop cleanly, the second ends the process at once.
#pragma once

namespace muster {

// Call once, before long work; without it Ctrl-C ends the process as usual.
void watch_interrupts();
bool interrupted();

}  // namespace muster
