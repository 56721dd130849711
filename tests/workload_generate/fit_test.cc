#include "workload/generate/fit.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/temporary_folder.h"
#include "workload/generate/generators.h"

namespace muster {
namespace {

std::vector<double> drawn(const Distribution& distribution, int count) {
  Random random(31);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) values.push_back(distribution.draw(random));
  return values;
}

void expect_recovers(const Distribution& truth) {
  const auto families = fit_durations(drawn(truth, 50000));
  ASSERT_EQ(families.size(), 4U);
  const FittedFamily& best = families.front();
  EXPECT_EQ(best.distribution.kind(), truth.kind()) << best.distribution.text();
  EXPECT_NEAR(best.distribution.first(), truth.first(), 0.02 * std::abs(truth.first()) + 0.01);
  if (truth.kind() != DistributionKind::kExponential) {
    EXPECT_NEAR(best.distribution.second(), truth.second(), 0.03 * truth.second());
  }
  EXPECT_LT(best.distance, 0.01);
  for (const FittedFamily& family : families) {
    // Maximum likelihood: none of the families can beat the true one by more than its freedom
    // allows.
    EXPECT_LE(family.log_likelihood, best.log_likelihood + 5) << family.distribution.text();
  }
}

TEST(FitDurations, RecoversEachFamily) {
  expect_recovers(Distribution::log_normal(6.7, 2));
  expect_recovers(Distribution::weibull(0.6, 900));
  expect_recovers(Distribution::gamma(3, 400));
  expect_recovers(Distribution::gamma(0.4, 4000));
}

TEST(FitDurations, ExponentialIsTheWeibullAndGammaOfShapeOne) {
  for (const FittedFamily& family : fit_durations(drawn(Distribution::exponential(700), 50000))) {
    if (family.distribution.kind() == DistributionKind::kExponential) {
      EXPECT_NEAR(family.distribution.first(), 700, 10);
      EXPECT_LT(family.distance, 0.01);
    }
    if (family.distribution.kind() == DistributionKind::kWeibull ||
        family.distribution.kind() == DistributionKind::kGamma) {
      EXPECT_NEAR(family.distribution.first(), 1, 0.02);
    }
  }
}

// Values and results of SciPy 1.17: scipy.stats.*.fit(values, floc=0), kstest and logpdf.
TEST(FitDurations, AgreesWithScipy) {
  const std::vector<double> values = {12,  35,   61,   61,   90,   115,  240,  402,
                                      660, 1144, 1500, 2932, 4100, 9800, 11264};
  std::map<DistributionKind, FittedFamily> by_kind;
  for (const FittedFamily& family : fit_durations(values)) {
    by_kind.emplace(family.distribution.kind(), family);
  }
  const auto expect = [&](DistributionKind kind, double first, double second, double distance,
                          double likelihood) {
    const FittedFamily& family = by_kind.at(kind);
    EXPECT_NEAR(family.distribution.first(), first, 1e-4 * first);
    EXPECT_NEAR(family.distribution.second(), second, 1e-4 * second);
    EXPECT_NEAR(family.distance, distance, 1e-4);
    EXPECT_NEAR(family.log_likelihood, likelihood, 1e-2);
  };
  EXPECT_EQ(by_kind.size(), 4U);
  expect(DistributionKind::kExponential, 2161.0666667, 0, 0.3635909, -130.1753581);
  expect(DistributionKind::kLogNormal, 6.0435512, 2.0520288, 0.1365830, -122.7197815);
  expect(DistributionKind::kWeibull, 0.5299581, 1177.9534531, 0.1472043, -123.3494440);
  expect(DistributionKind::kGamma, 0.4021671, 5373.5544922, 0.1612722, -123.9098492);
}

TEST(FitDurations, EqualValuesAreAConstant) {
  const auto families = fit_durations({60, 60, 60});
  ASSERT_EQ(families.size(), 1U);
  EXPECT_EQ(families[0].distribution.kind(), DistributionKind::kConstant);
  EXPECT_EQ(families[0].distribution.first(), 60);
}

std::vector<JobSpec> jobs_of(Generated generated) {
  std::vector<JobSpec> jobs;
  for (; generated.source->peek() != nullptr; generated.source->pop()) {
    jobs.push_back(*generated.source->peek());
  }
  return jobs;
}

Generated fit_source(std::string_view name, const ParamTexts& params, Symbols& symbols) {
  Result<Generated> generated = make_generator(name, params, symbols);
  EXPECT_TRUE(generated) << generated.error().message;
  return generated ? std::move(*generated) : Generated{};
}

TEST(FitTrace, MeasuresRateSizesAndDurations) {
  Symbols symbols;
  const auto jobs = jobs_of(fit_source("poisson",
                                       {{"jobs", "40000"},
                                        {"rate", "90"},
                                        {"gpus", "1:0.75,8:0.25"},
                                        {"mean_duration", "5000"},
                                        {"shape", "1.2"}},
                                       symbols));
  ListSource source(jobs);
  const Result<TraceFit> fit = fit_trace(source);
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_NEAR(fit->jobs_per_hour, 90, 2);
  EXPECT_NEAR(fit->gap_variation, 1, 0.03);
  ASSERT_EQ(fit->sizes.size(), 2U);
  EXPECT_NEAR(static_cast<double>(fit->sizes[1].jobs) / 40000, 0.25, 0.01);
  for (const SizeFit& size : fit->sizes) {
    EXPECT_EQ(size.families.front().distribution.kind(), DistributionKind::kLogNormal);
    EXPECT_NEAR(size.families.front().distribution.second(), 1.2, 0.03);
  }
  EXPECT_NE(fit_text(*fit).find("lognormal"), std::string::npos);
  EXPECT_NE(fit_text(*fit).find("40000 jobs"), std::string::npos);
}

TEST(FitTrace, NeedsJobsAtDifferentTimes) {
  std::vector<JobSpec> jobs(3);
  ListSource nothing_lasts(jobs);
  EXPECT_FALSE(fit_trace(nothing_lasts));
  for (JobSpec& job : jobs) job.duration = 5;
  ListSource all_at_once(jobs);
  const auto fit = fit_trace(all_at_once);
  ASSERT_FALSE(fit);
  EXPECT_NE(fit.error().message.find("3 jobs"), std::string::npos);
  ListSource none(std::span<const JobSpec>{});
  EXPECT_FALSE(fit_trace(none));
}

std::string csv_of(const std::vector<JobSpec>& jobs, const Symbols& symbols) {
  std::string text = "job_id,submit_s,duration_s,gpus,user\n";
  int id = 0;
  for (const JobSpec& job : jobs) {
    text += std::to_string(id++) + "," + std::to_string(job.submit) + "," +
            std::to_string(job.duration) + "," + std::to_string(job.gpus) + "," +
            symbols.text(job.user) + "\n";
  }
  return text;
}

struct Means {
  double duration = 0;
  double gpus = 0;
  double gap = 0;
};

Means means_of(const std::vector<JobSpec>& jobs) {
  Means means;
  const auto count = static_cast<double>(jobs.size());
  for (const JobSpec& job : jobs) {
    means.duration += job.duration / count;
    means.gpus += job.gpus / count;
  }
  means.gap = jobs.back().submit / count;
  return means;
}

TEST(FitGenerator, TwinsLookLikeTheirTrace) {
  Symbols symbols;
  const TemporaryFolder folder;
  const auto original = jobs_of(fit_source("poisson",
                                           {{"jobs", "20000"},
                                            {"gpus", "1:0.6,4:0.4"},
                                            {"duration", "weibull"},
                                            {"shape", "0.9"},
                                            {"users", "3"}},
                                           symbols));
  const std::string trace = folder.write("trace.csv", csv_of(original, symbols)).string();
  const Means expected = means_of(original);
  for (const std::string durations : {"best", "weibull", "resample"}) {
    for (const std::string arrivals : {"poisson", "weekly", "resample"}) {
      Generated twin = fit_source("fit",
                                  {{"trace", trace},
                                   {"durations", durations},
                                   {"arrivals", arrivals},
                                   {"jobs", "20000"},
                                   {"seed", "5"}},
                                  symbols);
      EXPECT_NE(twin.notes.find("weibull"), std::string::npos);
      const auto jobs = jobs_of(std::move(twin));
      ASSERT_EQ(jobs.size(), 20000U);
      const Means means = means_of(jobs);
      EXPECT_NEAR(means.duration / expected.duration, 1, 0.05) << durations;
      EXPECT_NEAR(means.gpus / expected.gpus, 1, 0.02);
      EXPECT_NEAR(means.gap / expected.gap, 1, 0.05) << arrivals;
      EXPECT_FALSE(symbols.text(jobs[0].user).empty());
    }
  }
}

TEST(FitGenerator, CanBeAskedForAnotherLoad) {
  Symbols symbols;
  const TemporaryFolder folder;
  const auto original = jobs_of(fit_source("poisson", {{"jobs", "5000"}}, symbols));
  const std::string trace = folder.write("trace.csv", csv_of(original, symbols)).string();
  for (const std::string arrivals : {"poisson", "resample"}) {
    const auto jobs = jobs_of(fit_source(
        "fit", {{"trace", trace}, {"rate", "600"}, {"jobs", "20000"}, {"arrivals", arrivals}},
        symbols));
    EXPECT_NEAR(jobs.back().submit, 20000 * 6.0, 6000) << arrivals;
  }
}

TEST(FitGenerator, ComplainsAboutItsTrace) {
  Symbols symbols;
  const TemporaryFolder folder;
  EXPECT_NE(make_generator("fit", {}, symbols).error().message.find("'trace' is missing"),
            std::string::npos);
  EXPECT_FALSE(make_generator("fit", {{"trace", "no/such/file.csv"}}, symbols));
  const auto one = folder.write("one.csv", "job_id,submit_s,duration_s,gpus\n1,0,5,1\n").string();
  EXPECT_NE(make_generator("fit", {{"trace", one}}, symbols).error().message.find("two jobs"),
            std::string::npos);
}

TEST(FitTrace, PhillyIsRead) {
  MUSTER_NEEDS_SHARED("data/philly/philly.csv");
  Symbols symbols;
  const auto path = (shared_dir() / "data/philly/philly.csv").string();
  const Generated twin = fit_source("fit", {{"trace", path}}, symbols);
  EXPECT_NE(twin.notes.find("82247 jobs over 108.9 days: 31.469 per hour"), std::string::npos)
      << twin.notes;
}

}  // namespace
}  // namespace muster
