#include "cli/sweep_tables.h"

#include <cmath>
#include <unistd.h>

#include <fmt/format.h>

#include "report/json.h"
#include "report/metric_list.h"
#include "report/table.h"

namespace muster {
namespace {

std::string interval_text(const Interval& interval, Unit unit) {
  const std::string mean = number_text(interval.mean, unit);
  if (std::isnan(interval.half_width)) return mean;
  return fmt::format("{} ± {}", mean, number_text(interval.half_width, unit));
}

// The difference from the baseline as a part of it, with its confidence interval.
std::string against_text(const Interval& difference, const Interval& mean) {
  const double baseline = mean.mean - difference.mean;
  if (baseline == 0 || std::isnan(baseline)) return "";
  if (std::isnan(difference.half_width)) {
    return fmt::format("{:+.1f} %", 100 * difference.mean / baseline);
  }
  return fmt::format("{:+.1f} ± {:.1f} %", 100 * difference.mean / baseline,
                     std::abs(100 * difference.half_width / baseline));
}

}  // namespace

void print_cells(const SweepConfig& sweep, const std::vector<SweepCell>& cells,
                 const std::vector<std::string>& metrics) {
  std::vector<Column> columns;
  for (const SweepAxis& axis : sweep.axes) columns.push_back({axis.name, axis.name});
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const MetricInfo& info = *find_metric(metrics[m]);
    columns.push_back({std::string(info.key), std::string(info.label)});
    if (m == 0) columns.push_back({"against", "against baseline"});
  }
  Table table(std::move(columns));
  for (const SweepCell& cell : cells) {
    std::vector<Cell> row;
    for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
      row.emplace_back(sweep.axes[i].values[cell.values[i]]);
    }
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      row.emplace_back(interval_text(cell.means[m], find_metric(metrics[m])->unit));
      if (m > 0) continue;
      row.emplace_back(cell.against.empty() ? std::string()
                                            : against_text(cell.against[0], cell.means[0]));
    }
    table.add_row(std::move(row));
  }
  fmt::print("{}", table.text(text_style(STDOUT_FILENO, false)));
}

void print_found_rates(const SweepConfig& sweep, const SweepResult& result) {
  std::vector<Column> columns;
  for (const SweepAxis& axis : sweep.axes) {
    if (axis.name != "rate") columns.push_back({axis.name, axis.name});
  }
  columns.push_back({"rate", "highest jobs/h"});
  columns.push_back({"utilization", "utilisation"});
  Table table(std::move(columns));
  for (const FoundRate& found : found_rates(sweep, result)) {
    std::vector<Cell> row;
    for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
      if (sweep.axes[i].name != "rate") row.emplace_back(sweep.axes[i].values[found.values[i]]);
    }
    row.emplace_back(interval_text(found.rate, Unit::kFactor));
    row.emplace_back(interval_text(found.utilization, Unit::kRatio));
    table.add_row(std::move(row));
  }
  fmt::print("{}", table.text(text_style(STDOUT_FILENO, false)));
}

std::string cells_json(const SweepConfig& sweep, const std::vector<SweepCell>& cells,
                       const std::vector<std::string>& metrics) {
  JsonWriter json(2);
  json.begin_object().member("seeds", static_cast<double>(sweep.seeds.size()));
  json.member("confidence", sweep.confidence).key("cells").begin_array();
  for (const SweepCell& cell : cells) {
    json.begin_object();
    for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
      json.member(sweep.axes[i].name, sweep.axes[i].values[cell.values[i]]);
    }
    json.key("figures").begin_object();
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      json.key(metrics[m]).begin_object();
      json.member("mean", cell.means[m].mean).member("half_width", cell.means[m].half_width);
      if (!cell.against.empty()) {
        json.member("against_baseline", cell.against[m].mean);
        json.member("against_half_width", cell.against[m].half_width);
      }
      json.end_object();
    }
    json.end_object().end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

}  // namespace muster
