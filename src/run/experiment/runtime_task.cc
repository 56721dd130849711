#include "run/experiment/runtime_task.h"

#include <fmt/format.h>

#include "base/text.h"
#include "run/experiment/policy_runtime.h"

namespace muster {
namespace {

constexpr std::string_view kRuntimeFigures[] = {"seconds", "share_kept"};
constexpr long long kMostTrials = 1000;

}  // namespace

Result<RuntimeTask> read_runtime_task(const TomlNode& node, const std::string& where) {
  RuntimeTask task;
  TomlReader reader(node, where, "run.runtime");
  reader.read("throughputs", task.throughputs);
  reader.read("policy", task.policy);
  reader.read("jobs", task.jobs);
  reader.read("trials", task.trials);
  reader.read("parts", task.parts);
  const auto positive = [&](std::string_view name, long long value) {
    if (value >= 1) return;
    reader.fail(node, fmt::format("{}: found {}, expected at least 1", name, value));
  };
  positive("jobs", task.jobs);
  positive("trials", task.trials);
  positive("parts", task.parts);
  if (task.trials > kMostTrials) {
    reader.fail(node,
                fmt::format("trials: found {}, expected at most {}", task.trials, kMostTrials));
  }
  if (Status read = reader.finish(); !read) return read.error();
  return task;
}

Status check_runtime_figure(std::string_view key) {
  for (const std::string_view known : kRuntimeFigures) {
    if (key == known) return Done{};
  }
  return Error{unknown_name("figure of a runtime", key, kRuntimeFigures)};
}

Result<std::map<std::string, double, std::less<>>> run_runtime_task(const RuntimeTask& task) {
  PolicyRuntimeOptions options;
  options.throughputs = task.throughputs;
  options.policies = {task.policy};
  options.jobs = {task.jobs};
  options.trials = static_cast<int>(task.trials);
  options.parts = static_cast<int>(task.parts);
  const auto rows = measure_policy_runtimes(options);
  if (!rows) return rows.error();
  std::map<std::string, double, std::less<>> figures;
  if (rows->front().too_many_pairs) {
    return Error{
        fmt::format("{} with {} jobs has too many pairs to be measured", task.policy, task.jobs)};
  }
  figures["seconds"] = rows->front().average;
  figures["share_kept"] = rows->front().share_kept;
  return figures;
}

}  // namespace muster
