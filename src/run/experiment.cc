#include "run/experiment.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/text.h"
#include "report/metric_list.h"
#include "run/load_config.h"
#include "run/share_folder.h"

namespace muster {
namespace {

constexpr std::string_view kReference = "shared:";

Status check_key(const std::string& key) {
  if (key == "run_preemptions" || find_metric(key) != nullptr) return Done{};
  std::vector<std::string_view> known{"run_preemptions"};
  for (const MetricInfo& info : metric_list()) known.push_back(info.key);
  return Error{unknown_name("figure", key, known)};
}

// Figures by key, into the expectations of a run.
void read_figures(TomlReader& reader, std::string_view member, double ExpectedFigure::*field,
                  std::vector<ExpectedFigure>& expected) {
  const TomlNode* node = reader.take(member);
  if (node == nullptr) return;
  TomlReader table(*node, reader.where(), reader.section(member));
  for (const auto& [key, value] : node->members) {
    if (Status known = check_key(key); !known) table.fail(value, known.error().message);
    double number = kNoFigure;
    table.read(key, number);
    auto found = std::find_if(expected.begin(), expected.end(),
                              [&](const ExpectedFigure& one) { return one.key == key; });
    if (found == expected.end()) {
      found = expected.insert(expected.end(), {key, kNoFigure, kNoFigure});
    }
    (*found).*field = number;
  }
  reader.keep(table.finish());
}

void read_golden_member(TomlReader& reader, ExperimentRun& run) {
  const TomlNode* node = reader.take("golden");
  if (node == nullptr) return;
  if (node->scalar()) {
    run.golden = node->text;
    return;
  }
  TomlReader table(*node, reader.where(), "run.golden");
  table.read("file", run.golden);
  if (const TomlNode* where = table.take("where")) {
    TomlReader inner(*where, reader.where(), "run.golden.where");
    ParamTexts values;
    inner.read_rest(values);
    run.where.insert(values.begin(), values.end());
    table.keep(inner.finish());
  }
  reader.keep(table.finish());
}

// Replaces "shared:path" by the file's place; what is not here is remembered as missing.
void find_files(ExperimentRun& run) {
  const auto replace = [&](std::string& path) {
    if (!path.starts_with(kReference)) return;
    auto found = find_reference_file(path.substr(kReference.size()));
    if (found) {
      path = *found;
    } else if (run.missing.empty()) {
      run.missing = found.error().message;
    }
  };
  replace(run.config.workload.trace);
  replace(run.config.cluster.file);
  for (const std::string_view name : kGeneratorFiles) {
    const auto file = run.config.workload.generator.params.find(name);
    if (file != run.config.workload.generator.params.end()) replace(file->second);
  }
}

Result<ExperimentRun> read_run(const TomlNode& node, const RunConfig& base,
                               const std::string& where) {
  TomlReader reader(node, where, "run");
  ExperimentRun run;
  reader.read("name", run.name);
  RunConfig config = base;
  config.name = run.name;
  if (const TomlNode* set = reader.take("set")) reader.keep(apply_toml(config, *set, where));
  read_figures(reader, "artifact", &ExpectedFigure::artifact, run.expected);
  read_figures(reader, "published", &ExpectedFigure::published, run.expected);
  read_golden_member(reader, run);
  if (Status read = reader.finish(); !read) return read.error();
  run.config = std::move(config);
  find_files(run);
  if (!run.missing.empty()) return run;
  auto complete = complete_config(std::move(run.config));
  if (!complete) {
    return Error{fmt::format("{}, line {}: run '{}': {}", where, node.line, run.name,
                             complete.error().message)};
  }
  run.config = std::move(*complete);
  return run;
}

}  // namespace

Result<Experiment> parse_experiment(const TomlNode& document, const std::string& where) {
  Experiment experiment;
  TomlNode shared;  // what the runs have in common: everything that is not about the comparison
  TomlNode own;
  constexpr std::string_view kOwn[] = {"title", "source", "tolerance", "adjust", "run"};
  for (const auto& member : document.members) {
    const bool is_own = std::find(std::begin(kOwn), std::end(kOwn), member.first) != std::end(kOwn);
    (is_own ? own : shared).members.push_back(member);
  }
  TomlReader reader(own, where);
  reader.read("title", experiment.title);
  reader.read("source", experiment.source);
  if (const TomlNode* tolerance = reader.take("tolerance")) {
    TomlReader table(*tolerance, where, "tolerance");
    table.read("absolute", experiment.absolute);
    table.read("relative", experiment.relative);
    reader.keep(table.finish());
  }
  if (const TomlNode* adjust = reader.take("adjust")) {
    TomlReader table(*adjust, where, "adjust");
    for (const auto& [key, value] : adjust->members) {
      if (Status known = check_key(key); !known) table.fail(value, known.error().message);
      table.read(key, experiment.adjust[key]);
    }
    reader.keep(table.finish());
  }
  const TomlNode* runs = reader.take("run");
  if (Status read = reader.finish(); !read) return read.error();
  // Paths in experiments are never relative to their file: they name public data.
  auto base = load_config(shared, where, "", {});
  if (!base) return base.error();
  if (runs == nullptr || runs->items.empty()) return Error{where + ": no [[run]]"};
  for (const TomlNode& node : runs->items) {
    auto run = read_run(node, *base, where);
    if (!run) return run.error();
    experiment.runs.push_back(std::move(*run));
  }
  return experiment;
}

Result<Experiment> load_experiment(const std::string& system, const std::string& name) {
  const std::vector<std::string> systems = shared_folders("experiments");
  if (std::find(systems.begin(), systems.end(), system) == systems.end()) {
    if (systems.empty()) return find_shared_file("experiments", "experiment", system).error();
    return Error{unknown_name("system", system,
                              std::vector<std::string_view>(systems.begin(), systems.end()))};
  }
  const auto path = find_shared_file("experiments/" + system, system + " experiment", name);
  if (!path) return path.error();
  const auto document = read_toml(*path);
  if (!document) return document.error();
  auto experiment = parse_experiment(*document, *path);
  if (!experiment) return experiment;
  experiment->system = system;
  experiment->name = name;
  return experiment;
}

}  // namespace muster
