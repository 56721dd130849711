// Ctrl-C: the first asks the work to stop cleanly, the second ends the process at once.
#pragma once

#include <functional>

namespace muster {

// Call once, before long work; without it Ctrl-C ends the process as usual.
void watch_interrupts();
bool interrupted();
// Both: begins to watch, and returns what long work asks between its steps, whether to go on.
std::function<bool()> stops_at_interrupt();

}  // namespace muster
