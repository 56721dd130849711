// Random batches, and what one daemon would commit: shared by the tests of both stores.
#pragma once

#include "base/random.h"
#include "daemon/store.h"

namespace muster {

StoredJob random_job(JobId id, Random& random);
StoredRun random_run(RunId id, Random& random);
// Some rows of each kind, of few ids, so that rows are replaced and forgotten.
Batch random_batch(Random& random, std::int64_t& next_decision);

// Batch number `n` of a daemon that writes the number into a job, a run and a note at once.
Batch numbered_batch(int n);
Status commit_one(Store& store, const Batch& batch);
// The number that a world holds, -1 if none; fails the running test where the three differ.
int number_in(const StoredWorld& world);

}  // namespace muster
