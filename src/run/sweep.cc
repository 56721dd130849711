#include "run/sweep.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "report/csv.h"
#include "run/load_config.h"
#include "run/plugins.h"
#include "run/sweep_journal.h"

namespace muster {
namespace {

constexpr std::string_view kPolicyAxes[] = {"scheduling", "placement", "admission"};

// Where the axis called `load` acts in this workload.
std::string load_key(const RunConfig& config) {
  if (config.workload.generator.empty()) return "workload.speed";
  const auto row = find_plugin(plugin_kind("generator"), config.workload.generator.name);
  if (row) {
    for (const ParamInfo& info : *(*row)->params) {
      if (info.name == "load") return "workload.generator.load";
    }
  }
  return "workload.speed";
}

Status apply_value(RunConfig& config, const SweepAxis& axis, std::size_t value) {
  return apply_toml(config, toml_at(axis.key, toml_text(axis.values[value])), axis.name);
}

void set_seed(RunConfig& config, long long seed) {
  config.seed = seed;
  config.failure_seed.reset();
  config.workload.generator.params.erase("seed");
}

// Counts through all combinations of axis values, the last axis fastest.
bool next_combination(const std::vector<SweepAxis>& axes, std::vector<std::size_t>& at) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (++at[i] < axes[i].values.size()) return true;
    at[i] = 0;
  }
  return false;
}

}  // namespace

bool SweepAxis::policy() const {
  return std::find(std::begin(kPolicyAxes), std::end(kPolicyAxes), key) != std::end(kPolicyAxes);
}

Result<std::vector<long long>> parse_seeds(std::string_view text) {
  constexpr long long kMost = 1'000'000;
  std::vector<long long> seeds;
  const auto bad = [&](std::string_view part) {
    return Error{fmt::format(
        "seeds '{}': '{}' is not a number or a range; expected a count as in 10, or a list as in "
        "1,3,8-10",
        text, part)};
  };
  const std::vector<std::string_view> parts = split(text, ',');
  for (const std::string_view raw : parts) {
    const std::string_view part = trim(raw);
    const std::size_t dash = part.find('-', 1);
    const auto first = parse_integer(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_integer(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last - *first > kMost) return bad(part);
    const bool count = parts.size() == 1 && dash == std::string_view::npos;
    if (count && (*first < 1 || *first > kMost)) return bad(part);
    for (long long seed = count ? 1 : *first; seed <= *last; ++seed) seeds.push_back(seed);
  }
  std::vector<long long> sorted = seeds;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return Error{fmt::format("seeds '{}': a seed is given twice", text)};
  }
  return seeds;
}

Status set_axis(SweepConfig& sweep, std::string_view name, std::vector<std::string> values) {
  if (values.empty()) return Error{fmt::format("'{}' has no values to go through", name)};
  std::vector<std::string> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    return Error{fmt::format("'{}' is given twice as '{}'", *twice, name)};
  }
  SweepAxis axis{std::string(name), std::string(name), std::move(values)};
  if (name == "load") axis.key = load_key(sweep.base);
  for (SweepAxis& old : sweep.axes) {
    if (old.name != axis.name) continue;
    old = std::move(axis);
    return Done{};
  }
  sweep.axes.push_back(std::move(axis));
  return Done{};
}

Status apply_sweep_toml(SweepConfig& sweep, const TomlNode& table, const std::string& where) {
  TomlReader reader(table, where, "sweep");
  std::string seeds;
  if (const TomlNode* node = table.find("seeds"); node != nullptr && !node->scalar()) {
    std::vector<std::string> list;
    reader.read("seeds", list);
    for (const std::string& seed : list) seeds += (seeds.empty() ? "" : ",") + seed;
    // A list of one is that seed, not a count.
    if (list.size() == 1) seeds += "-" + seeds;
  } else {
    reader.read("seeds", seeds);
  }
  if (!seeds.empty()) {
    auto parsed = parse_seeds(seeds);
    if (parsed) {
      sweep.seeds = std::move(*parsed);
    } else {
      reader.keep(parsed.error());
    }
  }
  reader.read("baseline", sweep.baseline);
  reader.read("confidence", sweep.confidence);
  for (const std::string_view name : {"cluster", "load", "scheduling", "placement", "admission"}) {
    std::vector<std::string> values;
    reader.read(name, values);
    if (!values.empty()) reader.keep(set_axis(sweep, name, std::move(values)));
  }
  if (const TomlNode* vary = reader.take("vary")) {
    TomlReader inner(*vary, where, "sweep.vary");
    for (const auto& [key, node] : vary->members) {
      std::vector<std::string> values;
      inner.read(key, values);
      reader.keep(set_axis(sweep, key, std::move(values)));
    }
    reader.keep(inner.finish());
  }
  return reader.finish();
}

Result<std::vector<SweepPoint>> sweep_points(const SweepConfig& sweep) {
  if (!(sweep.confidence > 0 && sweep.confidence < 1)) {
    return Error{fmt::format("sweep.confidence is {}, but must lie between 0 and 1, as in 0.95",
                             sweep.confidence)};
  }
  std::vector<SweepPoint> points;
  std::vector<std::string> policies;
  std::vector<std::size_t> at(sweep.axes.size(), 0);
  do {
    RunConfig config = sweep.base;
    // Policies first, so that what varies inside them finds them in place.
    for (const bool policies_now : {true, false}) {
      for (std::size_t i = 0; i < at.size(); ++i) {
        if (sweep.axes[i].policy() != policies_now) continue;
        if (Status applied = apply_value(config, sweep.axes[i], at[i]); !applied) {
          return applied.error();
        }
      }
    }
    for (const long long seed : sweep.seeds) {
      RunConfig seeded = config;
      set_seed(seeded, seed);
      seeded.output.folder.clear();
      auto complete = complete_config(std::move(seeded));
      if (!complete) return complete.error();
      points.push_back({at, seed, std::move(*complete)});
    }
    policies.push_back(policy_label(sweep, at));
  } while (next_combination(sweep.axes, at));
  if (!sweep.baseline.empty() &&
      std::find(policies.begin(), policies.end(), sweep.baseline) == policies.end()) {
    std::sort(policies.begin(), policies.end());
    policies.erase(std::unique(policies.begin(), policies.end()), policies.end());
    return Error{unknown_name("baseline", sweep.baseline,
                              std::vector<std::string_view>(policies.begin(), policies.end()))};
  }
  return points;
}

std::string policy_label(const SweepConfig& sweep, const std::vector<std::size_t>& values) {
  std::string label;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    const SweepAxis& axis = sweep.axes[i];
    if (axis.policy()) label += (label.empty() ? "" : " + ") + axis.values[values[i]];
  }
  return label;
}

std::string to_toml(const SweepConfig& sweep) {
  std::string out = to_toml(sweep.base);
  out += "\n[sweep]\nseeds = [";
  for (std::size_t i = 0; i < sweep.seeds.size(); ++i) {
    out += fmt::format("{}{}", i > 0 ? ", " : "", sweep.seeds[i]);
  }
  out += fmt::format("]\nbaseline = {}\nconfidence = {}\n", toml_quoted(sweep.baseline),
                     toml_number(sweep.confidence));
  std::string vary;
  for (const SweepAxis& axis : sweep.axes) {
    std::string values;
    for (const std::string& value : axis.values) {
      values += (values.empty() ? "" : ", ") + toml_quoted(value);
    }
    const bool plain = axis.policy() || axis.name == "cluster" || axis.name == "load";
    (plain ? out : vary) += fmt::format("{} = [{}]\n", toml_key(axis.name), values);
  }
  if (!vary.empty()) out += "\n[sweep.vary]\n" + vary;
  return out;
}

std::vector<SweepCell> summarise(const SweepConfig& sweep, const SweepResult& result,
                                 const std::vector<std::string>& metrics) {
  const std::size_t seeds = sweep.seeds.size();
  const auto values_of = [&](std::size_t cell, const MetricInfo& info) {
    std::vector<double> values(seeds);
    for (std::size_t s = 0; s < seeds; ++s)
      values[s] = result.metrics[cell * seeds + s].*info.field;
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
  out += '\n';
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
      append_number(out, result.metrics[i].*info.field);
    }
    out += '\n';
  }
  return out;
}

}  // namespace muster
