// A job with a value in every field that no other field has, and none at its default, for tests of
// what writes jobs down. Every field is named there, so that a new one does not compile before it
// is dealt with.
#pragma once

#include "base/symbols.h"
#include "model/job_spec.h"

namespace muster {

JobSpec full_job(Symbols& symbols);
// All but the number.
bool same_fields(const JobSpec& a, const JobSpec& b);

}  // namespace muster
