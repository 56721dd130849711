// Runs numbered pieces of work in several threads. The pieces must not depend on each other's
// order.
#pragma once

#include <cstddef>
#include <functional>

namespace muster {

// Threads the machine has; at least one.
unsigned machine_threads();

// Calls `work(i)` once for every i below `count`, lowest first, in at most `threads` threads (0: as
// many as the machine has; the caller's counts). Returns when all calls have.
// An exception ends the work and reaches the caller.
void in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

}  // namespace muster
