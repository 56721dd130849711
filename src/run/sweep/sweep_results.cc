// The results of a sweep: means over seeds, the highest rates, and a line for every run.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/text.h"
#include "run/sweep/sweep.h"
#include "run/sweep/sweep_journal.h"

namespace muster {

std::vector<SweepCell> summarise(const SweepConfig& sweep, const SweepResult& result,
                                 const std::vector<std::string>& metrics) {
  const std::size_t seeds = sweep.seeds.size();
  const auto values_of = [&](std::size_t cell, const MetricInfo& info) {
    std::vector<double> values(seeds);
    for (std::size_t s = 0; s < seeds; ++s) {
      const std::size_t point = cell * seeds + s;
      const bool done = result.states[point] == PointState::kDone;
      values[s] = done ? result.metrics[point].*info.field : kNoFigure;
    }
    return values;
  };
  const std::size_t cells = result.points.size() / seeds;
  // The cell with the same workload under the baseline's policies.
  const auto baseline_of = [&](std::size_t cell) {
    const std::vector<std::size_t>& mine = result.points[cell * seeds].values;
    for (std::size_t other = 0; other < cells; ++other) {
      const std::vector<std::size_t>& theirs = result.points[other * seeds].values;
      bool same = sweep.baseline.empty() || policy_label(sweep, theirs) == sweep.baseline;
      for (std::size_t i = 0; i < mine.size() && same; ++i) {
        if (!sweep.axes[i].policy()) same = mine[i] == theirs[i];
      }
      if (same) return other;
    }
    return cell;
  };
  std::vector<SweepCell> summary;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    SweepCell row;
    row.values = result.points[cell * seeds].values;
    const std::size_t baseline = baseline_of(cell);
    for (const std::string& key : metrics) {
      const MetricInfo& info = *find_metric(key);
      const std::vector<double> values = values_of(cell, info);
      row.means.push_back(mean_interval(values, sweep.confidence));
      if (baseline != cell) {
        row.against.push_back(paired_interval(values, values_of(baseline, info), sweep.confidence));
      }
    }
    summary.push_back(std::move(row));
  }
  return summary;
}

std::vector<std::vector<std::size_t>> rate_tracks(const SweepConfig& sweep,
                                                  const std::vector<SweepPoint>& points) {
  const std::size_t axis = rate_axis(sweep);
  std::map<std::pair<std::vector<std::size_t>, long long>, std::vector<std::size_t>> tracks;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<std::size_t> others = points[i].values;
    others[axis] = 0;
    tracks[{others, points[i].seed}].push_back(i);
  }
  const auto rate = [&](std::size_t point) {
    return parse_real(sweep.axes[axis].values[points[point].values[axis]]).value_or(0);
  };
  std::vector<std::vector<std::size_t>> sorted;
  for (auto& [key, track] : tracks) {
    std::sort(track.begin(), track.end(),
              [&](std::size_t a, std::size_t b) { return rate(a) < rate(b); });
    sorted.push_back(std::move(track));
  }
  return sorted;
}

std::vector<FoundRate> found_rates(const SweepConfig& sweep, const SweepResult& result) {
  const std::size_t axis = rate_axis(sweep);
  std::map<std::vector<std::size_t>, std::pair<std::vector<double>, std::vector<double>>> found;
  for (const std::vector<std::size_t>& track : rate_tracks(sweep, result.points)) {
    double rate = 0;
    double utilization = kNoFigure;
    for (const std::size_t point : track) {
      const double used = result.metrics[point].utilization;
      if (result.states[point] != PointState::kDone || !(used <= sweep.threshold)) continue;
      rate = parse_real(sweep.axes[axis].values[result.points[point].values[axis]]).value_or(0);
      utilization = used;
    }
    std::vector<std::size_t> others = result.points[track.front()].values;
    others[axis] = 0;
    found[others].first.push_back(rate);
    found[others].second.push_back(utilization);
  }
  std::vector<FoundRate> rows;
  rows.reserve(found.size());
  for (const auto& [values, figures] : found) {
    rows.push_back({values, mean_interval(figures.first, sweep.confidence),
                    mean_interval(figures.second, sweep.confidence)});
  }
  return rows;
}

namespace {

std::string_view state_name(PointState state) {
  switch (state) {
    case PointState::kOpen:
      return "open";
    case PointState::kDone:
      return "done";
    case PointState::kSkipped:
      return "skipped";
    case PointState::kTimedOut:
      return "timed out";
  }
  return "";
}

}  // namespace

std::string points_csv(const SweepConfig& sweep, const SweepResult& result) {
  std::string out;
  for (const SweepAxis& axis : sweep.axes) {
    append_field(out, axis.name);
    out += ',';
  }
  out += "seed";
  for (const MetricInfo& info : metric_list()) {
    if (machine_free(info)) out += fmt::format(",{}", info.key);
  }
  out += ",state\n";
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    const SweepPoint& point = result.points[i];
    for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
      append_field(out, sweep.axes[a].values[point.values[a]]);
      out += ',';
    }
    out += fmt::to_string(point.seed);
    for (const MetricInfo& info : metric_list()) {
      if (!machine_free(info)) continue;
      out += ',';
      append_number(
          out, result.states[i] == PointState::kDone ? result.metrics[i].*info.field : kNoFigure);
    }
    out += fmt::format(",{}\n", state_name(result.states[i]));
  }
  return out;
}

}  // namespace muster
