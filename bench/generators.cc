// How fast the generators make jobs, and that their memory does not grow: a simulation of ten
// million jobs must never wait for them.
#include "workload/generate/generators.h"

#include <sys/resource.h>
#include <time.h>

#include <fmt/format.h>

namespace muster {
namespace {

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

bool measure(std::string_view name, const ParamTexts& params, int jobs) {
  Symbols symbols;
  const Result<Generated> generated = make_generator(name, params, symbols);
  if (!generated) {
    fmt::print(stderr, "{}\n", generated.error().message);
    return false;
  }
  JobSource& source = *generated->source;
  double gpu_seconds = 0;
  const double begin = cpu_seconds();
  for (int i = 0; i < jobs; ++i, source.pop())
    gpu_seconds += source.peek()->gpus * source.peek()->duration;
  const double seconds = cpu_seconds() - begin;
  fmt::print(
      "generate {:<18} {:>9} jobs {:>7.3f} s cpu {:>6.1f} million jobs/s  peak {:>4.0f} MB  "
      "({:.3g})\n",
      name, jobs, seconds, jobs / seconds / 1e6, peak_mb(), gpu_seconds);
  return true;
}

}  // namespace
}  // namespace muster

int main() {
  using muster::measure;
  constexpr int kMany = 10'000'000;
  const muster::ParamTexts endless = {{"jobs", "0"}};
  const muster::ParamTexts rich = {{"jobs", "0"},           {"users", "500"},
                                   {"partitions", "a,b,c"}, {"models", "x,y,z"},
                                   {"estimates", "noisy"},  {"deadline_share", "0.5"}};
  bool fine = true;
  for (const std::string_view name :
       {"poisson", "diurnal", "small-large", "philly-like", "static"}) {
    fine = measure(name, endless, kMany) && fine;
  }
  fine = measure("poisson", rich, kMany) && fine;
  for (const std::string_view name : {"blox-simple", "blox-small-large"}) {
    fine = measure(name, endless, kMany / 10) && fine;
  }
  return fine ? 0 : 1;
}
