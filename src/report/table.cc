#include "report/table.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/csv.h"
#include "base/text.h"
#include "report/json.h"
#include "report/refusals.h"

namespace muster {
namespace {

const double* number_in(const Cell& cell) {
  const double* number = std::get_if<double>(&cell);
  return number != nullptr && std::isfinite(*number) ? number : nullptr;
}

}  // namespace

void Table::add_row(std::vector<Cell> cells) {
  assert(cells.size() <= columns_.size());
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

bool Table::numeric(std::size_t column) const {
  return std::none_of(rows_.begin(), rows_.end(), [&](const std::vector<Cell>& row) {
    return std::holds_alternative<std::string>(row[column]);
  });
}

std::vector<bool> Table::best_in(std::size_t column) const {
  std::vector<bool> best(rows_.size(), false);
  const Better better = columns_[column].better;
  if (better == Better::kNeither) return best;
  double winner = 0;
  std::size_t count = 0;
  bool differ = false;
  for (const auto& row : rows_) {
    const double* number = number_in(row[column]);
    if (number == nullptr) continue;
    differ = differ || (count > 0 && *number != winner);
    const bool wins =
        count == 0 || (better == Better::kLower ? *number < winner : *number > winner);
    if (wins) winner = *number;
    ++count;
  }
  if (count < 2 || !differ) return best;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double* number = number_in(rows_[i][column]);
    best[i] = number != nullptr && *number == winner;
  }
  return best;
}

std::string Table::csv() const {
  std::string out;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (c > 0) out.push_back(',');
    append_field(out, columns_[c].key);
  }
  out.push_back('\n');
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) out.push_back(',');
      if (const auto* text = std::get_if<std::string>(&row[c])) append_field(out, *text);
      if (const auto* number = std::get_if<double>(&row[c])) append_number(out, *number);
    }
    out.push_back('\n');
  }
  return out;
}

std::string Table::json() const {
  JsonWriter json(1);
  json.begin_array();
  for (const auto& row : rows_) {
    json.begin_object();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      json.key(columns_[c].key);
      if (const auto* text = std::get_if<std::string>(&row[c])) {
        json.value(std::string_view(*text));
      } else if (const auto* number = std::get_if<double>(&row[c])) {
        json.value(*number);
      } else {
        json.null();
      }
    }
    json.end_object();
  }
  json.end_array();
  return json.take() + "\n";
}

namespace {

std::string refused_note(const Metrics& metrics) {
  return "warning: " + count_text(metrics.refused) + " of " + count_text(metrics.jobs) +
         " jobs were refused";
}

}  // namespace

Table comparison_table(const std::vector<TableRun>& runs, const std::vector<std::string>& keys) {
  std::vector<const MetricInfo*> metrics;
  for (const std::string& key : keys) {
    if (const MetricInfo* metric = find_metric(key)) metrics.push_back(metric);
  }
  if (keys.empty()) {
    for (const MetricInfo& metric : metric_list()) {
      const bool notable = metric.key == "refused" || metric.key == "failed" ||
                           metric.key == "cancelled" || metric.key == "unfinished" ||
                           metric.key == "deadline_met_ratio";
      const bool any = notable && std::any_of(runs.begin(), runs.end(), [&](const TableRun& run) {
                         return std::abs(run.summary->metrics.*metric.field) > 0;
                       });
      if (metric.headline || any) metrics.push_back(&metric);
    }
  }
  std::vector<const RunInfo*> infos;
  for (const TableRun& run : runs) {
    if (run.info != nullptr) infos.push_back(run.info);
  }
  const bool fair = comparable(infos);
  std::vector<Column> columns = {{"run", "run", Unit::kCount, Better::kNeither}};
  for (const MetricInfo* metric : metrics) {
    columns.push_back({std::string(metric->key), std::string(metric->label), metric->unit,
                       fair ? metric->better : Better::kNeither});
  }
  // Nobody outside a simulation knows how long a job will run: who does is not like the others.
  const bool any_truth = std::any_of(infos.begin(), infos.end(),
                                     [](const RunInfo* info) { return info->clairvoyant; });
  if (any_truth) columns.push_back({"clairvoyant", "knows durations"});
  Table table(std::move(columns));
  if (!fair) {
    table.add_note("no best is marked: the runs differ in their jobs or their cluster");
  }
  for (const TableRun& run : runs) {
    std::vector<Cell> cells = {run.label};
    for (const MetricInfo* metric : metrics)
      cells.emplace_back(run.summary->metrics.*metric->field);
    if (any_truth) {
      cells.emplace_back(run.info != nullptr && run.info->clairvoyant ? std::string("yes")
                                                                      : std::string("no"));
    }
    table.add_row(std::move(cells));
    if (many_refused(run.summary->metrics)) {
      table.add_note(refused_note(run.summary->metrics) + " with " + run.label);
    }
  }
  return table;
}

Table figures_table(const RunSummary& summary) {
  Table table({{"figure", "figure", Unit::kCount, Better::kNeither},
               {"value", "value", Unit::kCount, Better::kNeither},
               {"meaning", "meaning", Unit::kCount, Better::kNeither}});
  for (const MetricInfo& metric : metric_list()) {
    const double value = summary.metrics.*metric.field;
    if (!std::isfinite(value)) continue;
    table.add_row(
        {std::string(metric.label), number_text(value, metric.unit), std::string(metric.sentence)});
  }
  for (const CustomFigure& figure : summary.custom) {
    table.add_row(
        {figure.label, number_text(figure.value, figure.unit), std::string("custom figure")});
  }
  if (many_refused(summary.metrics)) table.add_note(refused_note(summary.metrics));
  return table;
}

}  // namespace muster
