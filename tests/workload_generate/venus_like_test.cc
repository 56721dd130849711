// The generator venus-like against the published figures of the Venus cluster (September 2020).
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "workload/generate/generators.h"
#include "workload/generate/venus_figures.h"

namespace muster {
namespace {

struct Drawn {
  Symbols symbols;
  std::vector<JobSpec> jobs;
};

// The mean of several months; single months differ, as they do in life.
const Drawn& drawn() {
  static const Drawn kDrawn = [] {
    Drawn drawn;
    const auto made = make_generator("venus-like", {{"jobs", "190000"}}, drawn.symbols);
    for (JobSource& source = *made->source; source.peek() != nullptr; source.pop()) {
      drawn.jobs.push_back(*source.peek());
    }
    return drawn;
  }();
  return kDrawn;
}

double part(const std::function<bool(const JobSpec&)>& holds) {
  const auto& jobs = drawn().jobs;
  return static_cast<double>(std::count_if(jobs.begin(), jobs.end(), holds)) /
         static_cast<double>(jobs.size());
}

TEST(VenusLike, SizesAndDurations) {
  EXPECT_NEAR(part([](const JobSpec& job) { return job.gpus == 1; }), 0.565, 0.04);
  EXPECT_NEAR(part([](const JobSpec& job) { return job.gpus == 8; }), 0.194, 0.04);
  EXPECT_NEAR(part([](const JobSpec& job) { return job.gpus > 8; }), 0.10, 0.03);
  EXPECT_NEAR(part([](const JobSpec& job) { return job.duration <= 200; }), 0.508, 0.05);
  EXPECT_NEAR(part([](const JobSpec& job) { return job.duration <= 814; }), 0.75, 0.05);
  EXPECT_NEAR(part([](const JobSpec& job) { return job.duration > 56918; }), 0.05, 0.02);
}

TEST(VenusLike, LoadOfEveryVirtualCluster) {
  std::map<Symbol, double> gpu_seconds;
  for (const JobSpec& job : drawn().jobs) gpu_seconds[job.partition] += job.gpus * job.duration;
  const Seconds span = drawn().jobs.back().submit;
  EXPECT_NEAR(static_cast<double>(drawn().jobs.size()) / span * 26 * 86400, 23859, 2400);
  double all = 0;
  double nodes = 0;
  for (const VenusCluster& figures : venus_clusters()) {
    const double found =
        gpu_seconds[drawn().symbols.find(figures.name)] / (figures.nodes * 8 * span);
    EXPECT_GT(found, 0.4 * figures.load) << figures.name;
    EXPECT_LT(found, 2.0 * figures.load) << figures.name;
    all += found * figures.nodes;
    nodes += figures.nodes;
  }
  EXPECT_NEAR(all / nodes, 0.893, 0.15);
}

TEST(VenusLike, UsersHaveHabitsAndComeInBursts) {
  struct Last {
    Seconds submit;
    int gpus;
    double length;
  };
  std::map<Symbol, Last> last;
  std::map<Symbol, double> jobs_of;
  double pairs = 0;
  double same_size = 0;
  std::vector<double> gaps;
  double x = 0;
  double y = 0;
  double xx = 0;
  double yy = 0;
  double xy = 0;
  Seconds before = 0;
  double squares = 0;
  for (const JobSpec& job : drawn().jobs) {
    jobs_of[job.user] += 1;
    squares += (job.submit - before) * (job.submit - before);
    before = job.submit;
    const double length = std::log(job.duration);
    if (const auto found = last.find(job.user); found != last.end()) {
      pairs += 1;
      same_size += found->second.gpus == job.gpus ? 1 : 0;
      gaps.push_back(job.submit - found->second.submit);
      x += found->second.length;
      y += length;
      xx += found->second.length * found->second.length;
      yy += length * length;
      xy += found->second.length * length;
    }
    last[job.user] = {job.submit, job.gpus, length};
  }
  EXPECT_NEAR(same_size / pairs, 0.87, 0.08);
  const double correlation =
      (xy / pairs - x / pairs * y / pairs) /
      std::sqrt((xx / pairs - x / pairs * x / pairs) * (yy / pairs - y / pairs * y / pairs));
  EXPECT_NEAR(correlation, 0.5, 0.12);
  std::sort(gaps.begin(), gaps.end());
  EXPECT_NEAR(gaps[gaps.size() / 2], 126, 50);
  // Arrivals are far from independent: those would have a coefficient of variation of 1.
  const double count = static_cast<double>(drawn().jobs.size());
  const double mean = before / count;
  EXPECT_GT(std::sqrt(squares / count - mean * mean) / mean, 1.5);
  // 8 users submit half of all jobs in the trace.
  std::vector<double> counts;
  counts.reserve(jobs_of.size());
  for (const auto& [user, jobs] : jobs_of) counts.push_back(jobs);
  EXPECT_EQ(counts.size(), 188U);
  std::sort(counts.begin(), counts.end(), std::greater<>());
  double top = 0;
  for (std::size_t i = 0; i < 8; ++i) top += counts[i];
  EXPECT_NEAR(top / count, 0.5, 0.12);
}

TEST(VenusLike, FollowsDayAndWeek) {
  const auto hour = [](const JobSpec& job) { return std::fmod(job.submit / 3600, 24); };
  const double night = part([&](const JobSpec& job) { return hour(job) >= 4 && hour(job) < 8; });
  const double afternoon =
      part([&](const JobSpec& job) { return hour(job) >= 14 && hour(job) < 18; });
  EXPECT_NEAR(night, 0.046, 0.03);
  EXPECT_NEAR(afternoon, 0.281, 0.05);
  const double weekend =
      part([](const JobSpec& job) { return std::fmod(job.submit / 86400, 7) >= 5; });
  EXPECT_NEAR(weekend, 0.13, 0.05);
}

}  // namespace
}  // namespace muster
