// When a waiting job will probably start: copies of the live state are simulated without future
// arrivals, once as believed and several times with drawn lengths of jobs.
#pragma once

#include <functional>

#include "daemon/core.h"

namespace muster {

// Fills in the expected start of the story, and which jobs will start before: what the policies'
// order comes to, whatever it is. Both stay unknown where `keep_going` says that there is no more
// time.
void foresee_start(const Subject& subject, JobId job, const std::function<bool()>& keep_going,
                   JobStory& story);

}  // namespace muster
