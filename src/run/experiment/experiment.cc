#include "run/experiment/experiment.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/text.h"
#include "report/metric_list.h"
#include "run/config/load_config.h"
#include "run/config/share_folder.h"

namespace muster {
namespace {

constexpr std::string_view kReference = "shared:";

constexpr std::string_view kJctRatio = "avg_jct_ratio";

Status check_key(const std::string& key) {
  const bool own = key == "run_preemptions" || key == kJctRatio;
  if (own || find_metric(key) != nullptr) return Done{};
  for (const std::string_view kind : {kRatioKey, kSpeedupKey}) {
    if (!key.starts_with(kind)) continue;
    if (find_metric(std::string_view(key).substr(kind.size())) != nullptr) return Done{};
    return Error{fmt::format("figure '{}': expected {}KEY, as in {}makespan_s", key, kind, kind)};
  }
  if (key.starts_with(kWithinKey)) {
    if (parse_real(std::string_view(key).substr(kWithinKey.size()))) return Done{};
    return Error{fmt::format("figure '{}': expected jct_within.SECONDS", key)};
  }
  if (key.starts_with(kRankKey)) {
    const auto fraction = parse_real(std::string_view(key).substr(kRankKey.size()));
    if (fraction && *fraction >= 0 && *fraction < 1) return Done{};
    return Error{
        fmt::format("figure '{}': expected jct_at_rank.FRACTION, as in {}0.99", key, kRankKey)};
  }
  const std::size_t dot = key.rfind('.');
  const std::string_view last =
      std::string_view(key).substr(dot == std::string::npos ? 0 : dot + 1);
  const bool group =
      key.starts_with("partitions.") || key.starts_with("gpus.") || key.starts_with("priorities.");
  if (group && (last == "avg_jct_s" || last == "avg_queue_s")) return Done{};
  std::vector<std::string_view> known{"run_preemptions"};
  for (const MetricInfo& info : metric_list()) known.push_back(info.key);
  return Error{unknown_name("figure", key, known)};
}

Status check_any_key(const std::string& key, const ExperimentRun& run) {
  if (run.model) return check_model_figure(key);
  if (run.runtime) return check_runtime_figure(key);
  if (run.hierarchy) return check_hierarchy_figure(key);
  return check_key(key);
}

// Figures by key, into the expectations of a run; the keys of tables inside are joined by dots.
class FigureReader {
 public:
  FigureReader(TomlReader& reader, double ExpectedFigure::*field, ExperimentRun& run)
      : reader_(reader), field_(field), run_(run) {}
  void read(const TomlNode& table, const std::string& before) {
    for (const auto& [name, value] : table.members) {
      const std::string key = before + name;
      if (value.kind == TomlNode::Kind::kTable) {
        read(value, key + ".");
        continue;
      }
      const Status known = check_any_key(key, run_);
      if (!known) {
        reader_.fail(value, known.error().message);
      }
      const auto number = parse_real(value.text);
      if (!number) {
        reader_.fail(value,
                     fmt::format("figure '{}': found '{}', expected a number", key, value.text));
        continue;
      }
      auto found = std::find_if(run_.expected.begin(), run_.expected.end(),
                                [&](const ExpectedFigure& one) { return one.key == key; });
      if (found == run_.expected.end()) {
        found = run_.expected.insert(run_.expected.end(), {key, kNoFigure, kNoFigure});
      }
      (*found).*field_ = *number;
    }
  }

 private:
  TomlReader& reader_;
  double ExpectedFigure::*field_;
  ExperimentRun& run_;
};

void read_figures(TomlReader& reader, std::string_view member, double ExpectedFigure::*field,
                  ExperimentRun& run) {
  const TomlNode* node = reader.take(member);
  if (node != nullptr) FigureReader(reader, field, run).read(*node, "");
}

// By figure that is expected: the least and the most of the original's own runs.
void read_spread(TomlReader& reader, ExperimentRun& run) {
  const TomlNode* node = reader.take("spread");
  if (node == nullptr) return;
  for (const auto& member : node->members) {
    // Not bound by the loop itself: clang 14 cannot capture such names.
    const std::string& key = member.name;
    const TomlNode& value = member.value;
    const auto found = std::find_if(run.expected.begin(), run.expected.end(),
                                    [&](const ExpectedFigure& one) { return one.key == key; });
    const auto bound = [&](std::size_t i) {
      return value.items.size() == 2 ? parse_real(value.items[i].text) : std::nullopt;
    };
    if (found == run.expected.end() || !bound(0) || !bound(1) || *bound(0) > *bound(1)) {
      reader.fail(value, fmt::format("spread.{}: expected the least and the most of a figure that "
                                     "this run has, as in [100, 120]",
                                     key));
      continue;
    }
    found->least = *bound(0);
    found->most = *bound(1);
  }
}

void read_golden_member(TomlReader& reader, ExperimentRun& run) {
  const TomlNode* node = reader.take("golden");
  if (node == nullptr) return;
  GoldenSource& golden = run.golden;
  if (node->scalar()) {
    golden.file = node->text;
    return;
  }
  TomlReader table(*node, reader.where(), "run.golden");
  table.read("file", golden.file);
  table.read("submit", golden.submit);
  table.read("start", golden.start);
  table.read("end", golden.end);
  table.read("jct", golden.jct);
  if (!golden.jct.empty()) golden.end = golden.submit = "";
  table.read("preempted", golden.preempted);
  table.read("outcome", golden.outcome);
  table.read("id", golden.id);
  table.read("trace_ids", golden.trace_ids);
  if (const TomlNode* where = table.take("where")) {
    TomlReader inner(*where, reader.where(), "run.golden.where");
    ParamTexts values;
    inner.read_rest(values);
    golden.where.insert(values.begin(), values.end());
    table.keep(inner.finish());
  }
  reader.keep(table.finish());
}

// Replaces "shared:path" by the file's place, and the name of a file beside the experiment by its
// path; what is not here is remembered as missing.
void find_files(ExperimentRun& run, const std::string& where) {
  const auto replace = [&](std::string& path) {
    if (!path.starts_with(kReference)) {
      const auto beside = std::filesystem::path(where).parent_path() / path;
      if (!path.empty() && std::filesystem::is_regular_file(beside)) path = beside.string();
      return;
    }
    auto found = find_reference_file(path.substr(kReference.size()));
    if (found) {
      path = *found;
    } else if (run.missing.empty()) {
      run.missing = found.error().message;
    }
  };
  for (std::string* path : run.config.paths()) replace(*path);
  for (std::vector<RunConfig>* others : {&run.more, &run.against}) {
    for (RunConfig& other : *others) {
      for (std::string* path : other.paths()) replace(*path);
    }
  }
  if (run.model) replace(run.model->file);
  if (run.runtime) replace(run.runtime->throughputs);
  if (run.hierarchy) replace(run.hierarchy->throughputs);
}

// Figures without a number to compare with: of all runs, and of this one.
Status add_shown(const std::vector<std::string>& of_all, ExperimentRun& run) {
  std::vector<std::string> keys = of_all;
  keys.insert(keys.end(), run.also.begin(), run.also.end());
  for (const std::string& key : keys) {
    if (Status known = check_any_key(key, run); !known) return known;
    run.expected.push_back({key, kNoFigure, kNoFigure});
  }
  return Done{};
}

// A run that is a task of another kind than a simulation says which.
Status read_tasks(TomlReader& reader, ExperimentRun& run) {
  if (const TomlNode* model = reader.take("model")) {
    auto task = read_model_task(*model, reader.where());
    if (!task) return task.error();
    run.model = std::move(*task);
  }
  if (const TomlNode* runtime = reader.take("runtime")) {
    auto task = read_runtime_task(*runtime, reader.where());
    if (!task) return task.error();
    run.runtime = std::move(*task);
  }
  if (const TomlNode* hierarchy = reader.take("hierarchy")) {
    auto task = read_hierarchy_task(*hierarchy, reader.where());
    if (!task) return task.error();
    run.hierarchy = std::move(*task);
  }
  return Done{};
}

// Completes every description of a run; `place` is where it stands, for messages.
Status complete_all(ExperimentRun& run, const std::string& place) {
  std::vector<RunConfig*> all{&run.config};
  for (std::vector<RunConfig>* others : {&run.more, &run.against}) {
    for (RunConfig& other : *others) all.push_back(&other);
  }
  for (RunConfig* one : all) {
    auto complete = complete_config(std::move(*one));
    if (!complete) {
      return Error{fmt::format("{}: run '{}': {}", place, run.name, complete.error().message)};
    }
    *one = std::move(*complete);
  }
  return Done{};
}

Result<ExperimentRun> read_run(const TomlNode& node, const RunConfig& base,
                               const std::vector<std::string>& also, const std::string& where) {
  TomlReader reader(node, where, "run");
  ExperimentRun run;
  reader.read("name", run.name);
  RunConfig config = base;
  config.name = run.name;
  if (const TomlNode* set = reader.take("set")) reader.keep(apply_toml(config, *set, where));
  if (Status read = read_tasks(reader, run); !read) return read.error();
  reader.read("not_possible", run.missing);
  reader.read("shown", run.shown);
  reader.read("also", run.also);
  reader.read("seeds", run.seeds);
  reader.read("draws", run.draws);
  read_figures(reader, "artifact", &ExpectedFigure::artifact, run);
  read_figures(reader, "published", &ExpectedFigure::published, run);
  read_spread(reader, run);
  if (Status added = add_shown(also, run); !added) return added.error();
  read_golden_member(reader, run);
  const TomlNode* against = reader.take("against");
  std::vector<std::string> seeds;
  reader.read("run_seeds", seeds);
  for (std::size_t i = 0; i < std::max<std::size_t>(1, seeds.size()); ++i) {
    RunConfig seeded = config;
    if (!seeds.empty()) {
      reader.keep(apply_toml(seeded, toml_at("seed", toml_text(seeds[i])), where));
    }
    if (against != nullptr) {
      reader.keep(apply_toml(run.against.emplace_back(seeded), *against, where));
    }
    (i == 0 ? run.config : run.more.emplace_back()) = std::move(seeded);
  }
  if (Status read = reader.finish(); !read) return read.error();
  find_files(run, where);
  if (!run.missing.empty() || !run.simulated()) return run;
  const std::string place = fmt::format("{}, line {}", where, node.line);
  if (Status done = complete_all(run, place); !done) return done.error();
  return run;
}

}  // namespace

Result<Experiment> parse_experiment(const TomlNode& document, const std::string& where) {
  Experiment experiment;
  TomlNode shared;  // what the runs have in common: everything that is not about the comparison
  TomlNode own;
  constexpr std::string_view kOwn[] = {"title", "source", "tolerance", "adjust", "run"};
  for (const auto& member : document.members) {
    const bool is_own = std::find(std::begin(kOwn), std::end(kOwn), member.name) != std::end(kOwn);
    (is_own ? own : shared).members.push_back(member);
  }
  TomlReader reader(own, where);
  reader.read("title", experiment.title);
  reader.read("source", experiment.source);
  if (const TomlNode* tolerance = reader.take("tolerance")) {
    TomlReader table(*tolerance, where, "tolerance");
    table.read("absolute", experiment.absolute);
    table.read("relative", experiment.relative);
    table.read("deviations", experiment.deviations);
    table.read("at_most", experiment.at_most);
    table.read("at_least", experiment.at_least);
    table.read("shown", experiment.shown);
    table.read("also", experiment.also);
    table.read("jobs", experiment.jobs);
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
    auto run = read_run(node, *base, experiment.also, where);
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
