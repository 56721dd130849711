// Gavel's figure 11: water filling over three entities, against the vectors that its notebook
// prints (where the search for bottlenecks fails unseen) and those of a working search.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "artifacts/gavel/allocators.h"
#include "base/random_python.h"
#include "base/text.h"
#include "parity_gavel/support.h"
#include "solve/homogeneous.h"
#include "support/paths.h"
#include "workload/perf/throughput_json.h"

namespace muster {
namespace {

constexpr std::array<std::string_view, 3> kColumns = {"k80", "p100", "v100"};

// Gavel's table of job types in its order; the draws are positions in it.
std::vector<std::string> job_types() {
  std::vector<std::string> types;
  const auto add = [&](std::string_view family, std::initializer_list<int> sizes) {
    for (const int size : sizes) types.push_back(fmt::format("{} (batch size {})", family, size));
  };
  add("ResNet-18", {16, 32, 64, 128, 256});
  add("ResNet-50", {16, 32, 64, 128});
  add("Transformer", {16, 32, 64, 128, 256});
  add("LM", {5, 10, 20, 40, 80});
  add("Recommendation", {512, 1024, 2048, 4096, 8192});
  types.emplace_back("A3C");
  types.emplace_back("CycleGAN");
  return types;
}

struct Instance {
  AllocationProblem problem;
  std::vector<Entity> entities;
};

Instance instance_of(const std::string& inner, bool drawn_rates, int jobs,
                     const ThroughputTable& table) {
  Instance made;
  for (int e = 0; e < 3; ++e) {
    made.entities.push_back({static_cast<double>(e + 1), inner == "fifo"});
  }
  PythonRandom random(0);
  made.problem.types = 3;
  made.problem.capacity = {3, 3, 3};
  const std::vector<std::string> types = job_types();
  for (int j = 0; j < jobs; ++j) {
    std::array<double, 3> rates{};
    if (drawn_rates) {
      for (double& rate : rates) rate = random.random();
      std::sort(rates.begin(), rates.end());
    } else {
      const int key = table.key(types[random.choice(types.size())], 1);
      for (std::size_t w = 0; w < 3; ++w) rates[w] = table.alone(table.type(kColumns[w]), key);
    }
    made.problem.rates.insert(made.problem.rates.end(), rates.begin(), rates.end());
    AllocationJob job;
    job.id = JobId{static_cast<std::uint32_t>(j)};
    job.weight = inner == "fifo" ? 1 : j % 2 + 1;
    job.owner = static_cast<std::size_t>(j / 6);
    made.problem.jobs.push_back(job);
  }
  return made;
}

// Throughputs as multiples of what an average GPU gives, as the notebook prints them.
std::vector<double> normalised(const AllocationProblem& problem, const Allocation& allocation) {
  std::vector<double> all;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    double sum = 0;
    for (std::size_t w = 0; w < 3; ++w) {
      sum += problem.rate(j, w) * allocation.alone[j * 3 + w];
    }
    all.push_back(sum / proportional_rate(problem, problem.rates, j));
  }
  return all;
}

// By how much the largest of the notebook's vectors differs from ours, by row of the table.
std::vector<double> differences(const std::string& column, bool one_level,
                                LinearSolver solver = solve_self_dual) {
  const auto table = load_throughput_table((shared_dir() / kGavelTable).string());
  EXPECT_TRUE(table);
  std::vector<double> all;
  for (const auto& row : read_tsv("golden/gavel/hierarchical_golden.tsv")) {
    const Instance made = instance_of(row.at("inner_policy"), row.at("throughputs") == "random",
                                      std::stoi(row.at("num_jobs")), *table);
    const Sight sight = row.at("variant") == "perf" ? Sight::kRates : Sight::kAgnostic;
    ProgramOptions options = as_coded({sight});
    options.solver = solver;
    const auto policy = make_water_filling_as_coded(options, {made.entities}, one_level);
    Allocation allocation;
    allocation.reset(made.problem);
    policy->allocate(made.problem, allocation);
    const std::vector<double> ours = normalised(made.problem, allocation);
    const auto theirs = split(row.at(column), ' ');
    EXPECT_EQ(theirs.size(), ours.size());
    double most = 0;
    for (std::size_t j = 0; j < std::min(ours.size(), theirs.size()); ++j) {
      most = std::max(most, std::abs(ours[j] - *parse_real(theirs[j])));
    }
    all.push_back(most);
  }
  EXPECT_EQ(all.size(), 144U);
  return all;
}

// Within 1e-4 of the three digits that are printed.
std::ptrdiff_t count_met(const std::vector<double>& differences) {
  return std::count_if(differences.begin(), differences.end(),
                       [](double d) { return d <= 0.0006; });
}

// Except for two vectors.
TEST(GavelParity, HierarchicalVectorsOfTheNotebook) {
  MUSTER_NEEDS_SHARED("golden/gavel/hierarchical_golden.tsv");
  MUSTER_NEEDS_SHARED(kGavelTable);
  const auto all = differences("notebook output", true);
  EXPECT_GE(count_met(all), 142);
  for (const double difference : all) EXPECT_LE(difference, 0.0038);
}

// Where the two constants of the embedding come from: the vectors tell them from their neighbours.
TEST(GavelParity, TheVectorsOfTheNotebookTellTheConstantsOfTheEmbedding) {
  MUSTER_NEEDS_SHARED("golden/gavel/hierarchical_golden.tsv");
  MUSTER_NEEDS_SHARED(kGavelTable);
  const auto met = [](LinearSolver solver) {
    return count_met(differences("notebook output", true, solver));
  };
  EXPECT_LE(met([](const LinearProgram& program, double /*tolerance*/) {
              return solve_homogeneous(program, {.rounds = 2});
            }),
            90);
  EXPECT_LE(met([](const LinearProgram& program, double /*tolerance*/) {
              return solve_homogeneous(program, {.rounds = 4});
            }),
            90);
  EXPECT_LE(met([](const LinearProgram& program, double /*tolerance*/) {
              return solve_homogeneous(program, {.to_boundary = 0.985});
            }),
            125);
  EXPECT_LE(met([](const LinearProgram& program, double /*tolerance*/) {
              return solve_homogeneous(program, {.to_boundary = 0.995});
            }),
            125);
}

// With a search for bottlenecks that works. From the second level on these programs have no
// interior, and what a solver leaves to those who do not bind is good to two digits; in one of them
// a job is on the edge of what the published search takes for rising.
TEST(GavelParity, HierarchicalVectorsWithAWorkingSearch) {
  MUSTER_NEEDS_SHARED("golden/gavel/hierarchical_golden.tsv");
  MUSTER_NEEDS_SHARED(kGavelTable);
  const auto all = differences("run here, bottleneck MILP working", false);
  EXPECT_LE(std::count_if(all.begin(), all.end(), [](double d) { return d > 0.005; }), 1);
  EXPECT_GE(std::count_if(all.begin(), all.end(), [](double d) { return d <= 0.0015; }), 140);
}

}  // namespace
}  // namespace muster
