#include "perf/cpu_profiles.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace muster {
namespace {

constexpr std::size_t kPoints = 9;
constexpr std::array<double, kPoints> kCores = {1, 2, 3, 4, 5, 6, 9, 12, 24};

struct Profile {
  std::string_view model;
  double best_cores;  // more than this gains nothing
  std::array<double, kPoints> speed;
};

constexpr std::array<Profile, 9> kProfiles = {{
    {"alexnet", 12, {.3, .66, 1, 1.25, 1.53, 1.75, 2.33, 2.94, 2.94}},
    {"res18", 9, {.37, .72, 1, 1.3, 1.53, 1.75, 2.4, 2.4, 2.4}},
    {"res50", 4, {.4, .74, 1, 1.15, 1.15, 1.15, 1.15, 1.15, 1.15}},
    {"mobilenet", 6, {.37, .72, 1, 1.3, 1.49, 1.55, 1.55, 1.55, 1.55}},
    {"shufflenet", 12, {.3, .66, 1, 1.25, 1.53, 1.75, 2.33, 2.89, 2.89}},
    {"gnmt", 1, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {"transformer", 1, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {"lstm", 1, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {"deepspeech", 3, {.3, .66, 1, 1, 1, 1, 1, 1, 1}},
}};

class CpuProfiles final : public PerfModel {
 public:
  explicit CpuProfiles(Symbols& symbols) {
    for (const Profile& profile : kProfiles) profiles_[symbols.intern(profile.model)] = &profile;
  }
  double rate(const JobSpec& job, const RunContext& context) const override {
    const auto found = profiles_.find(job.model);
    if (found == profiles_.end() || context.host.cpus_per_gpu <= 0) return 1;
    return interpolate(*found->second, context.host.cpus_per_gpu);
  }
  HostResources wanted_host(const JobSpec& job) const override {
    HostResources wanted = PerfModel::wanted_host(job);
    const auto found = profiles_.find(job.model);
    if (found != profiles_.end())
      wanted.cpus_per_gpu = std::max(wanted.cpus_per_gpu, found->second->best_cores);
    return wanted;
  }

 private:
  static double interpolate(const Profile& profile, double cores) {
    // Below one core, speed falls in proportion.
    if (cores <= kCores[0]) return profile.speed[0] * cores / kCores[0];
    for (std::size_t i = 1; i < kPoints; ++i) {
      if (cores > kCores[i]) continue;
      const double part = (cores - kCores[i - 1]) / (kCores[i] - kCores[i - 1]);
      return profile.speed[i - 1] + part * (profile.speed[i] - profile.speed[i - 1]);
    }
    return profile.speed[kPoints - 1];
  }

  std::map<Symbol, const Profile*> profiles_;
};

}  // namespace

std::unique_ptr<PerfModel> make_cpu_profiles(Symbols& symbols) {
  return std::make_unique<CpuProfiles>(symbols);
}

}  // namespace muster
