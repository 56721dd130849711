#include "run/assembly/beliefs.h"

#include "base/table_lookup.h"
#include "run/config/plugin_tables.h"
#include "run/config/plugins.h"

namespace muster {

Result<std::unique_ptr<JobSource>> as_believed(const RunConfig& config,
                                               std::unique_ptr<JobSource> source,
                                               const Symbols& symbols,
                                               std::shared_ptr<const PerfModel> perf) {
  if (config.durations == Durations::kTrue) return source;
  std::unique_ptr<ErrorModel> errors;
  if (!config.errors.empty()) {
    const std::string_view noun = plugin_kind("errors").noun;
    const auto row = find_row(noun, plugin_tables().errors, config.errors.name);
    if (!row) return row.error();
    const auto params = Params::make(noun, (*row)->params, config.errors.params);
    if (!params) return params.error();
    errors = (*row)->make(*params, symbols);
  }
  return std::unique_ptr<JobSource>(std::make_unique<BelievedJobs>(
      std::move(source), config.durations, std::move(errors), std::move(perf)));
}

Result<std::shared_ptr<const SharedJobs>> as_believed(const RunConfig& config,
                                                      std::shared_ptr<const SharedJobs> jobs,
                                                      std::shared_ptr<const PerfModel> perf) {
  if (config.durations == Durations::kTrue) return jobs;
  auto believed =
      as_believed(config, std::make_unique<ListSource>(jobs->jobs), jobs->symbols, std::move(perf));
  if (!believed) return believed.error();
  auto list = std::make_shared<SharedJobs>(SharedJobs{Symbols(jobs->symbols), {}, jobs->notes});
  list->jobs.reserve(jobs->jobs.size());
  for (JobSource& source = **believed; source.peek() != nullptr; source.pop()) {
    list->jobs.push_back(*source.peek());
  }
  return std::shared_ptr<const SharedJobs>(std::move(list));
}

}  // namespace muster
