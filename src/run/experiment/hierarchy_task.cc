#include "run/experiment/hierarchy_task.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/random_python.h"
#include "base/text.h"
#include "policy/gavel/program_allocators.h"
#include "run/assembly/make_allocator.h"
#include "workload/generate/gavel_jobs.h"
#include "workload/perf/throughput_json.h"

namespace muster {
namespace {

constexpr std::array<std::string_view, 3> kGpuTypes = {"k80", "p100", "v100"};
constexpr int kGpusOfAType = 3;
constexpr long long kJobsOfAnEntity = 6;
constexpr long long kMostJobs = 3 * kJobsOfAnEntity;
constexpr std::string_view kInner[] = {"fairness", "fifo"};
constexpr std::string_view kRates[] = {"measured", "random"};
constexpr std::string_view kHierarchyFigures[] = {"job.N", "total"};
constexpr std::string_view kJobFigure = "job.";

Result<AllocationProblem> problem_of(const HierarchyTask& task) {
  const auto table = load_throughput_table(task.throughputs);
  if (!table) return table.error();
  const std::vector<std::string> job_types = gavel_job_types();
  AllocationProblem problem;
  problem.types = kGpuTypes.size();
  problem.capacity.assign(kGpuTypes.size(), kGpusOfAType);
  PythonRandom random(0);
  for (long long j = 0; j < task.jobs; ++j) {
    std::array<double, kGpuTypes.size()> rates{};
    if (task.rates == "random") {
      for (double& rate : rates) rate = random.random();
      std::sort(rates.begin(), rates.end());
    } else {
      const int key = table->key(job_types[random.choice(job_types.size())], 1);
      for (std::size_t w = 0; w < kGpuTypes.size(); ++w) {
        const int type = table->type(kGpuTypes[w]);
        if (key == ThroughputTable::kUnknown || type == ThroughputTable::kUnknown) {
          return Error{fmt::format("{}: expected all of Gavel's job types on {}", task.throughputs,
                                   kGpuTypes[w])};
        }
        rates[w] = table->alone(type, key);
      }
    }
    problem.rates.insert(problem.rates.end(), rates.begin(), rates.end());
    AllocationJob job;
    job.id = JobId{static_cast<std::uint32_t>(j)};
    job.weight = task.inner == "fifo" ? 1.0 : static_cast<double>(j % 2 + 1);
    job.steps_left = 1;
    job.owner = static_cast<std::size_t>(j / kJobsOfAnEntity);
    problem.jobs.push_back(job);
  }
  return problem;
}

}  // namespace

Result<HierarchyTask> read_hierarchy_task(const TomlNode& node, const std::string& where) {
  HierarchyTask task;
  TomlReader reader(node, where, "run.hierarchy");
  reader.read("throughputs", task.throughputs);
  reader.read("policy", task.policy);
  reader.read("inner", task.inner);
  reader.read("rates", task.rates);
  reader.read("jobs", task.jobs);
  reader.read("one_level", task.one_level);
  if (task.inner != kInner[0] && task.inner != kInner[1]) {
    reader.fail(node, unknown_name("policy inside entities", task.inner, kInner));
  }
  if (task.rates != kRates[0] && task.rates != kRates[1]) {
    reader.fail(node, unknown_name("kind of rates", task.rates, kRates));
  }
  if (task.jobs < 1 || task.jobs > kMostJobs) {
    reader.fail(node, fmt::format("jobs: found {}, expected 1 to {}", task.jobs, kMostJobs));
  }
  if (Status read = reader.finish(); !read) return read.error();
  return task;
}

Status check_hierarchy_figure(std::string_view key) {
  if (key == "total") return Done{};
  if (key.starts_with(kJobFigure) && parse_integer(key.substr(kJobFigure.size()))) return Done{};
  return Error{unknown_name("figure of a hierarchy", key, kHierarchyFigures)};
}

Result<std::map<std::string, double, std::less<>>> run_hierarchy_task(const HierarchyTask& task) {
  const auto problem = problem_of(task);
  if (!problem) return problem.error();
  // The notebook's vectors depend on which of the best answers its solver gave.
  constexpr std::string_view kPrefix = "gavel-";
  const std::string_view policy = task.policy;
  Choice choice{"gavel-as-coded",
                {{"policy", std::string(policy.starts_with(kPrefix) ? policy.substr(kPrefix.size())
                                                                    : policy)},
                 {"entities", "1:2:3"}}};
  if (task.inner == "fifo") choice.params["fifo_entities"] = "1:2:3";
  if (task.one_level) choice.params["one_level"] = "true";
  const auto allocator = make_allocator(choice);
  if (!allocator) return allocator.error();
  Allocation allocation;
  allocation.reset(*problem);
  (*allocator)->allocate(*problem, allocation);
  const std::vector<double> made = throughputs(*problem, allocation);
  std::map<std::string, double, std::less<>> figures;
  double total = 0;
  for (std::size_t j = 0; j < made.size(); ++j) {
    const double part = made[j] / proportional_rate(*problem, problem->rates, j);
    figures[fmt::format("{}{}", kJobFigure, j)] = part;
    total += part;
  }
  figures["total"] = total;
  return figures;
}

}  // namespace muster
