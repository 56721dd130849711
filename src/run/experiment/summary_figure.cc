#include <optional>

#include "base/text.h"
#include "run/experiment/experiment.h"

namespace muster {
namespace {

// The mean over jobs of so many GPUs: "9-", "-8" or "4-8".
std::optional<double> mean_by_gpus(const RunSummary& summary, std::string_view range,
                                   double GroupRow::*field) {
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const long long least = parse_integer(range.substr(0, dash)).value_or(0);
  const long long most = parse_integer(range.substr(dash + 1)).value_or(1'000'000'000);
  double sum = 0;
  double jobs = 0;
  for (const GroupRow& row : summary.sizes) {
    const long long gpus = parse_integer(row.name).value_or(-1);
    if (gpus < least || gpus > most || row.finished == 0) continue;
    sum += row.*field * row.finished;
    jobs += row.finished;
  }
  return jobs == 0 ? std::nullopt : std::optional<double>(sum / jobs);
}

}  // namespace

std::optional<double> summary_figure(const RunSummary& summary, std::string_view key) {
  if (const MetricInfo* info = find_metric(key)) return summary.metrics.*info->field;
  const std::size_t first = key.find('.');
  const std::size_t last = key.rfind('.');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const std::string_view kind = key.substr(0, first);
  const std::string_view name = key.substr(first + 1, last - first - 1);
  double GroupRow::*field =
      key.substr(last + 1) == "avg_jct_s" ? &GroupRow::avg_jct_s : &GroupRow::avg_queue_s;
  if (kind == "gpus") return mean_by_gpus(summary, name, field);
  if (kind != "partitions" && kind != "priorities") return std::nullopt;
  for (const GroupRow& row : kind == "partitions" ? summary.partitions : summary.priorities) {
    if (row.name == name) return row.*field;
  }
  return std::nullopt;
}

}  // namespace muster
