// Runs that are saved in the middle and continue later: the state of engine, backend and policies,
// and what the run has told its observers so far. The same description continues to the same
// result, to the last bit.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "run/assembly/run_story.h"
#include "run/config/config.h"
#include "workload/source.h"

namespace muster {

// Jobs of a run that can be saved, with a digest of those that have come: another workload is not
// taken for the one that it was saved with.
class DigestedJobs final : public JobSource {
 public:
  explicit DigestedJobs(JobSource& inner) : inner_(inner) {}
  const JobSpec* peek() override { return inner_.peek(); }
  void pop() override;
  bool finished() override { return inner_.finished(); }
  bool numbers_jobs() const override { return inner_.numbers_jobs(); }
  std::optional<Error> error() const override { return inner_.error(); }
  std::vector<std::string> notes() const override { return inner_.notes(); }
  bool more_after(Seconds time) const override { return inner_.more_after(time); }
  // SHA-256 over all jobs that were taken, each with the digest of those before it.
  const std::string& digest() const { return digest_; }

 private:
  JobSource& inner_;
  std::string digest_;
};

// When to save a run, and from where to go on. Empty files: not at all.
struct SaveOptions {
  long long at_job = -1;  // saved after the turn in which the job of this number came
  std::string file = {};
  std::string continue_from = {};
  bool or_ends = false;  // a run that ends before that job came is no mistake
};

// The bytes of a file: a mark, a checksum, and what it is of. docs/engine.md has the form.
std::string sealed_run(std::string body);

// Whether all that takes part in a run can be saved; the error names what cannot.
Status check_savable(Engine& engine, const RunConfig& config);

// Replaces what the file held.
Status save_run(const std::string& file, Engine& engine, const RunConfig& config,
                const DigestedJobs& jobs, const RunStory& story);

// The description that a run was saved with, complete.
Result<RunConfig> description_in(const std::string& file);

// Puts a saved run back: takes `jobs`, which must not have been touched, to where they were, and
// tells `observers` what was told. The description must be the one that it was saved with, its
// output apart, and so must the jobs that had arrived.
Status continue_run(const std::string& file, Engine& engine, const RunConfig& config,
                    DigestedJobs& jobs, std::span<Observer* const> observers);

}  // namespace muster
