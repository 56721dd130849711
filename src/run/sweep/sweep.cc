#include "run/sweep/sweep.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "run/config/load_config.h"
#include "run/config/plugins.h"
#include "run/sweep/cutoffs.h"

namespace muster {
namespace {

constexpr std::string_view kPolicyAxes[] = {"scheduling", "placement", "admission"};
constexpr std::string_view kRateAxis = "rate";
constexpr std::string_view kCountAxis = "jobs";

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

bool generator_has(const RunConfig& config, std::string_view name) {
  const auto row = find_plugin(plugin_kind("generator"), config.workload.generator.name);
  if (!row) return false;
  const ParamList& params = *(*row)->params;
  return std::any_of(params.begin(), params.end(),
                     [name](const ParamInfo& info) { return info.name == name; });
}

Status set_generator(RunConfig& config, std::string_view name, const std::string& value) {
  return apply_toml(config, toml_at(fmt::format("workload.generator.{}", name), toml_text(value)),
                    std::string(name));
}

// Jobs per hour, however the generator states them.
Status apply_rate(RunConfig& config, const std::string& text) {
  const auto rate = parse_real(text);
  if (!rate || !(*rate > 0) || std::isinf(*rate)) {
    return Error{fmt::format("rate '{}': expected jobs per hour, more than 0", text)};
  }
  if (generator_has(config, "lam")) return set_generator(config, "lam", exact_text(3600 / *rate));
  if (generator_has(config, "rate")) return set_generator(config, "rate", text);
  return Error{
      "rates need a generator that has one, such as gavel or poisson; traces have a speed: --load"};
}

Status apply_count(RunConfig& config, const std::string& text) {
  const auto count = parse_integer(text);
  if (!count || *count < 1) {
    return Error{fmt::format("number of jobs '{}': expected a whole number, 1 or more", text)};
  }
  if (!config.workload.trace.empty()) {
    config.workload.limit = *count;
    return Done{};
  }
  if (generator_has(config, "lam")) {
    if (Status set = set_generator(config, "lam", "0"); !set) return set;
  }
  return set_generator(config, "jobs", text);
}

Status apply_value(RunConfig& config, const SweepAxis& axis, std::size_t value) {
  if (axis.key == kRateAxis) return apply_rate(config, axis.values[value]);
  if (axis.key == kCountAxis) return apply_count(config, axis.values[value]);
  return apply_toml(config, toml_at(axis.key, toml_text(axis.values[value])), axis.name);
}

void set_seed(RunConfig& config, long long seed) {
  config.seed = seed;
  config.failure_seed.reset();
  config.life_seed.reset();
  config.workload.generator.params.erase("seed");
  config.errors.params.erase("seed");
}

// Counts through all combinations of axis values, the last axis fastest.
bool next_policy_set(const std::vector<SweepAxis>& axes, std::vector<std::size_t>& at) {
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

std::size_t rate_axis(const SweepConfig& sweep) {
  std::size_t at = 0;
  while (at < sweep.axes.size() && sweep.axes[at].name != kRateAxis) ++at;
  return at;
}

Result<std::vector<long long>> parse_seeds(std::string_view text) {
  constexpr long long kMost = 1'000'000;
  std::vector<long long> seeds;
  const auto bad = [&](std::string_view part) {
    return Error{fmt::format(
        "seeds '{}': '{}' is not a number or a range; expected a count as in 10, or a list as in "
        "1,3,8-10 (the seed 0 alone is 0-0)",
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

Result<std::vector<std::string>> parse_points(std::string_view text, bool whole) {
  const auto bad = [text] {
    return Error{fmt::format(
        "'{}': expected numbers as in 0.4,0.8,1.2, or FIRST:LAST:COUNT as in 0.4:6.4:16", text)};
  };
  const auto written = [whole](double value) {
    return whole ? fmt::format("{:.0f}", std::ceil(value)) : exact_text(value);
  };
  std::vector<std::string> values;
  if (text.find(':') == std::string_view::npos) {
    for (const std::string_view part : split(text, ',')) {
      const auto value = parse_real(trim(part));
      if (!value || !(*value >= 0) || std::isinf(*value)) return bad();
      values.push_back(written(*value));
    }
    return values;
  }
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() != 3) return bad();
  const auto first = parse_real(trim(parts[0]));
  const auto last = parse_real(trim(parts[1]));
  const auto count = parse_integer(trim(parts[2]));
  constexpr long long kMost = 100'000;
  if (!first || !last || !count || !(*first >= 0) || !(*last >= *first) || std::isinf(*last) ||
      *count < 1 || *count > kMost) {
    return bad();
  }
  // As numpy.linspace has it.
  const double step = *count > 1 ? (*last - *first) / static_cast<double>(*count - 1) : 0;
  for (long long i = 0; i < *count; ++i) {
    const double value = i > 0 && i == *count - 1 ? *last : *first + static_cast<double>(i) * step;
    if (i == 0 && value == 0) continue;
    values.push_back(written(value));
  }
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.empty()) return bad();
  return values;
}

Status set_axis(SweepConfig& sweep, std::string_view name, std::vector<std::string> values) {
  if (values.empty()) return Error{fmt::format("'{}' has no values to go through", name)};
  std::vector<std::string> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    return Error{fmt::format("'{}' is given twice as '{}'", *twice, name)};
  }
  for (const std::string& value : values) {
    const auto load = parse_real(value);
    if (name != "load" || (load && *load > 0 && std::isfinite(*load))) continue;
    return Error{fmt::format("load '{}': expected a number above 0, as in 0.8", value)};
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
  for (const std::string_view name : {kRateAxis, kCountAxis}) {
    const TomlNode* node = table.find(name);
    if (node == nullptr) continue;
    std::vector<std::string> values;
    if (node->scalar()) {
      std::string text;
      reader.read(name, text);
      auto points = parse_points(text, name == kCountAxis);
      if (!points) {
        reader.fail(*node, points.error().message);
        continue;
      }
      values = std::move(*points);
    } else {
      reader.read(name, values);
    }
    reader.keep(set_axis(sweep, name, std::move(values)));
  }
  reader.read("cutoffs", sweep.cutoffs);
  reader.read("utilization", sweep.threshold);
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
  const std::size_t rates = rate_axis(sweep);
  const bool has_rates = rates < sweep.axes.size();
  if ((sweep.threshold != 0 || !sweep.cutoffs.empty()) && !has_rates) {
    return Error{"cut-offs and a utilisation threshold are about rates: give some with --rates"};
  }
  if (!(sweep.threshold >= 0 && sweep.threshold <= 1)) {
    return Error{fmt::format("sweep.utilization is {}, but must lie between 0 and 1, as in 0.9",
                             sweep.threshold)};
  }
  Cutoffs cutoffs;
  if (!sweep.cutoffs.empty()) {
    auto loaded = Cutoffs::load(sweep.cutoffs);
    if (!loaded) return loaded.error();
    cutoffs = std::move(*loaded);
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
    const bool skip = has_rates && parse_real(sweep.axes[rates].values[at[rates]]).value_or(0) >=
                                       cutoffs.of(config.cluster.shape, config.scheduling);
    for (const long long seed : sweep.seeds) {
      RunConfig seeded = config;
      set_seed(seeded, seed);
      seeded.output.folder.clear();
      auto complete = complete_config(std::move(seeded));
      if (!complete) return complete.error();
      points.push_back({at, seed, std::move(*complete), skip});
    }
    policies.push_back(policy_label(sweep, at));
  } while (next_policy_set(sweep.axes, at));
  if (!sweep.baseline.empty() &&
      std::find(policies.begin(), policies.end(), sweep.baseline) == policies.end()) {
    std::sort(policies.begin(), policies.end());
    policies.erase(std::unique(policies.begin(), policies.end()), policies.end());
    return Error{unknown_name("baseline", sweep.baseline,
                              std::vector<std::string_view>(policies.begin(), policies.end()))};
  }
  return points;
}

Result<bool> seeds_matter(const SweepConfig& sweep) {
  SweepConfig two = sweep;
  two.seeds = {1, 2};
  const auto points = sweep_points(two);
  if (!points) return points.error();
  // What is left of a seed in a complete description belongs to something that draws.
  const auto drawn = [](RunConfig config) {
    config.seed = 0;
    if (!config.failures.any()) config.failure_seed.reset();
    if (!config.life.any()) config.life_seed.reset();
    return to_toml(config);
  };
  for (std::size_t i = 0; i + 1 < points->size(); i += 2) {
    if (drawn((*points)[i].config) != drawn((*points)[i + 1].config)) return true;
  }
  return false;
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
  if (!sweep.cutoffs.empty()) out += fmt::format("cutoffs = {}\n", toml_quoted(sweep.cutoffs));
  if (sweep.threshold > 0) out += fmt::format("utilization = {}\n", toml_number(sweep.threshold));
  std::string vary;
  for (const SweepAxis& axis : sweep.axes) {
    std::string values;
    for (const std::string& value : axis.values) {
      values += (values.empty() ? "" : ", ") + toml_quoted(value);
    }
    const bool plain = axis.policy() || axis.name == "cluster" || axis.name == "load" ||
                       axis.key == kRateAxis || axis.key == kCountAxis;
    (plain ? out : vary) += fmt::format("{} = [{}]\n", toml_key(axis.name), values);
  }
  if (!vary.empty()) out += "\n[sweep.vary]\n" + vary;
  return out;
}

}  // namespace muster
