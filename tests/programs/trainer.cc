// A training job without training: counts steps of a given length and keeps the count in a file, as
// a program in C++ that uses Muster's header would.
//
//   trainer CHECKPOINT TOTAL STEP_MS
//
// Rank 0 saves; every rank prints where it began and how it ended.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <muster/job.h>
#include <unistd.h>

int main(int count, char** arguments) {
  if (count != 4) return 2;
  std::int64_t completed = 0;
  std::ifstream(arguments[1]) >> completed;
  const std::int64_t total = std::atoll(arguments[2]);
  const auto step = static_cast<useconds_t>(1e3 * std::atof(arguments[3]));

  muster_job::Job job;
  std::printf("from %lld of %d ranks\n", static_cast<long long>(completed), job.world_size());
  while (job.next(completed, total)) {
    usleep(step);
    ++completed;
    job.report("loss", 1.0 / static_cast<double>(completed));
  }
  if (job.leaving()) {
    if (muster_job::Job::rank() == 0) std::ofstream(arguments[1]) << completed << "\n";
    job.left(completed);
  }
  std::printf("%s %lld\n", job.leaving() ? "left" : "done", static_cast<long long>(completed));
  return 0;
}
