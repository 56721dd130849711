#include "run/assembly/job_tables.h"

#include <cmath>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "learn/examples.h"
#include "perf/workload_name.h"

namespace muster {
namespace {

using RowOf = std::unordered_map<std::string_view, std::size_t>;

// The row of every job id; where an id comes twice, the last row counts, as in published tables.
RowOf rows_by_id(const ExampleColumn& ids) {
  RowOf rows;
  for (std::size_t i = 0; i < ids.texts.size(); ++i) rows[ids.texts[i]] = i;
  return rows;
}

Error unknown_job(const std::string& file, const JobSpec& job, std::string_view what) {
  return Error{fmt::format("{} has no row for job '{}': every job of the trace needs {}", file,
                           display_name(job), what)};
}

Status add_estimates(std::vector<JobSpec>& jobs, const EstimatesConfig& config) {
  const auto table = read_examples(config.file, {"job_id"});
  if (!table) return table.error();
  const auto ids = table->need("job_id", config.file);
  if (!ids) return ids.error();
  const auto values = table->need(config.column, config.file);
  if (!values) return values.error();
  if ((*values)->is_text) {
    return Error{
        fmt::format("{}: column '{}' holds text, expected seconds", config.file, config.column)};
  }
  const RowOf rows = rows_by_id(**ids);
  for (JobSpec& job : jobs) {
    const auto row = rows.find(display_name(job));
    if (row == rows.end()) return unknown_job(config.file, job, "an estimate");
    const double value = (*values)->numbers[row->second];
    if (!std::isfinite(value)) {
      return Error{fmt::format("{}: the estimate of job '{}' is not a number; expected seconds",
                               config.file, display_name(job))};
    }
    job.estimate = value < 0 ? config.negative : value;
  }
  return Done{};
}

Status add_models(std::vector<JobSpec>& jobs, const std::string& file, Symbols& symbols) {
  const auto table = read_examples(file, {"job_id", "model", "dataset", "batchsize", "amp"});
  if (!table) return table.error();
  const auto ids = table->need("job_id", file);
  if (!ids) return ids.error();
  const auto models = table->need("model", file);
  if (!models) return models.error();
  const auto cell = [&](std::string_view column, std::size_t row) {
    const ExampleColumn* found = table->find(column);
    return found == nullptr ? std::string() : found->texts[row];
  };
  const RowOf rows = rows_by_id(**ids);
  for (JobSpec& job : jobs) {
    const auto row = rows.find(display_name(job));
    if (row == rows.end()) return unknown_job(file, job, "a model");
    const std::size_t i = row->second;
    job.model = symbols.intern(workload_name((*models)->texts[i], cell("dataset", i),
                                             cell("batchsize", i), cell("amp", i) == "1"));
  }
  return Done{};
}

}  // namespace

Status add_job_tables(std::vector<JobSpec>& jobs, const WorkloadConfig& workload,
                      Symbols& symbols) {
  if (!workload.estimates.file.empty()) {
    if (Status added = add_estimates(jobs, workload.estimates); !added) return added;
  }
  if (!workload.models.empty()) return add_models(jobs, workload.models, symbols);
  return Done{};
}

Result<Forecast> load_forecast(const ForecastConfig& config) {
  const auto table = read_examples(config.file);
  if (!table) return table.error();
  const auto column = [&](const std::string& name) -> Result<const ExampleColumn*> {
    auto found = table->need(name, config.file);
    if (!found || !(*found)->is_text) return found;
    return Error{fmt::format("{}: column '{}' holds text, expected numbers", config.file, name)};
  };
  const auto jobs = column(config.jobs);
  if (!jobs) return jobs.error();
  const auto gpus = column(config.gpus);
  if (!gpus) return gpus.error();
  const bool has_nodes = !config.nodes.empty();
  const auto nodes = has_nodes ? column(config.nodes) : jobs;
  if (!nodes) return nodes.error();
  std::vector<Forecast::Slot> slots;
  for (std::size_t i = 0; i < table->rows; ++i) {
    const Forecast::Slot slot{(*jobs)->numbers[i], (*gpus)->numbers[i],
                              has_nodes ? (*nodes)->numbers[i] : 0};
    if (!std::isfinite(slot.jobs) || !std::isfinite(slot.gpus) || !std::isfinite(slot.nodes)) {
      return Error{fmt::format("{}: slot {} lacks a number", config.file, i + 1)};
    }
    slots.push_back(slot);
  }
  if (slots.empty()) return Error{fmt::format("{}: no slot", config.file)};
  return Forecast(config.begin, config.slot, std::move(slots), has_nodes);
}

}  // namespace muster
