// When a waiting job will start, as far as anybody can tell: copies of the live state go on under
// simulation, without jobs that are yet to come, as believed and with drawn lengths of jobs.
#pragma once

#include <functional>

#include "daemon/core.h"

namespace muster {

// Fills in the expected start of the story, and who will start before: what the policies' order
// comes to, whatever it is. Both stay unknown where `keep_going` says that there is no more time.
void foresee_start(const Subject& subject, JobId job, const std::function<bool()>& keep_going,
                   JobStory& story);

}  // namespace muster
