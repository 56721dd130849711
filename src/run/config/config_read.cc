#include <filesystem>

#include <fmt/format.h>

#include "run/config/config.h"
#include "run/config/plugins.h"

namespace muster {
namespace {

std::string beside(const std::string& folder, const std::string& path) {
  if (path.empty() || path == "-" || folder.empty()) return path;
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

// A plug-in as "name:key=value" or as a table. A table without a name adds to the present choice.
void read_choice(TomlReader& reader, std::string_view member, Choice& choice) {
  const TomlNode* node = reader.take(member);
  if (node == nullptr) return;
  if (node->scalar()) {
    auto parsed = parse_choice(node->text, member);
    if (parsed) {
      choice = std::move(*parsed);
    } else {
      reader.fail(*node, parsed.error().message);
    }
    return;
  }
  TomlReader table(*node, reader.where(), reader.section(member));
  std::string name = choice.name;
  table.read("name", name);
  if (name.empty()) table.fail(*node, fmt::format("[{}] has no name", reader.section(member)));
  if (name != choice.name) choice = Choice{name, {}};
  table.read_rest(choice.params);
  reader.keep(table.finish());
}

void read_choices(TomlReader& reader, std::string_view member, std::vector<Choice>& choices) {
  const TomlNode* node = reader.take(member);
  if (node == nullptr) return;
  choices.clear();
  const std::vector<TomlNode> one{*node};
  for (const TomlNode& item : node->kind == TomlNode::Kind::kArray ? node->items : one) {
    const TomlNode wrapped = toml_at(member, item);
    TomlReader inner(wrapped, reader.where());
    Choice choice;
    read_choice(inner, member, choice);
    reader.keep(inner.finish());
    choices.push_back(std::move(choice));
  }
}

// A path that the table may name; one that it does not name is left as it was.
void read_path(TomlReader& reader, const TomlNode& table, std::string_view member,
               const std::string& folder, std::string& path) {
  reader.read(member, path);
  if (table.find(member) != nullptr) path = beside(folder, path);
}

// Tables in the parameters of performance models are files.
void find_perf_files(std::vector<Choice>& models, const std::string& folder) {
  for (Choice& model : models) {
    for (const std::string_view name : kPerfFiles) {
      const auto file = model.params.find(name);
      if (file != model.params.end()) file->second = beside(folder, file->second);
    }
  }
}

void read_workload(TomlReader& reader, WorkloadConfig& workload, const std::string& folder) {
  const TomlNode* node = reader.take("workload");
  if (node == nullptr) return;
  TomlReader table(*node, reader.where(), "workload");
  if (node->find("trace") != nullptr && node->find("generator") != nullptr) {
    table.fail(*node, "[workload] names both a trace and a generator: choose one");
  }
  if (node->find("trace") != nullptr) {
    table.read("trace", workload.trace);
    workload.sha256.clear();
    workload.trace = beside(folder, workload.trace);
    workload.generator = {};
  }
  if (node->find("generator") != nullptr) workload.trace.clear();
  read_choice(table, "generator", workload.generator);
  for (const std::string_view name : kGeneratorFiles) {
    const auto file = workload.generator.params.find(name);
    if (file != workload.generator.params.end() && node->find("generator") != nullptr) {
      file->second = beside(folder, file->second);
    }
  }
  if (const TomlNode* estimates = table.take("estimates")) {
    TomlReader inner(*estimates, reader.where(), "workload.estimates");
    read_path(inner, *estimates, "file", folder, workload.estimates.file);
    inner.read("column", workload.estimates.column);
    inner.read("negative", workload.estimates.negative);
    table.keep(inner.finish());
  }
  read_path(table, *node, "models", folder, workload.models);
  table.read("sha256", workload.sha256);
  table.read("format", workload.format);
  if (const TomlNode* settings = table.take("settings")) {
    TomlReader inner(*settings, reader.where(), "workload.settings");
    inner.read_rest(workload.settings);
    table.keep(inner.finish());
  }
  table.read("skip_bad", workload.skip_bad);
  table.read("stream", workload.stream);
  table.read("rebase", workload.rebase);
  table.read("statuses", workload.statuses);
  table.read("speed", workload.speed);
  table.read("limit", workload.limit);
  table.take("trace");
  reader.keep(table.finish());
}

void read_cluster(TomlReader& reader, ClusterConfig& cluster, const std::string& folder) {
  const TomlNode* node = reader.take("cluster");
  if (node == nullptr) return;
  cluster = {};
  if (node->scalar()) {
    // A short text has neither dots nor slashes; a file that is meant has one.
    const bool file = node->text.find_first_of("./") != std::string::npos;
    (file ? cluster.file : cluster.shape) = node->text;
  } else if (node->find("shape") == nullptr && node->find("file") == nullptr) {
    cluster.text = toml_document(*node);
  } else {
    TomlReader table(*node, reader.where(), "cluster");
    table.read("shape", cluster.shape);
    table.read("file", cluster.file);
    if (!cluster.shape.empty() && !cluster.file.empty()) {
      table.fail(*node, "[cluster] has both a shape and a file: choose one");
    }
    reader.keep(table.finish());
  }
  cluster.file = beside(folder, cluster.file);
}

void read_policy_sets(TomlReader& reader, RunConfig& config) {
  const TomlNode* node = reader.take("policy_set");
  if (node == nullptr) return;
  if (node->kind != TomlNode::Kind::kArray) {
    reader.fail(*node, "'policy_set' must be a list of tables: [[policy_set]]");
    return;
  }
  config.policy_sets.clear();
  for (const TomlNode& item : node->items) {
    TomlReader table(item, reader.where(), "policy_set");
    PolicySetConfig policy_set;
    read_choice(table, "admission", policy_set.admission);
    read_choice(table, "scheduling", policy_set.scheduling);
    read_choice(table, "placement", policy_set.placement);
    reader.keep(table.finish());
    config.policy_sets.push_back(std::move(policy_set));
  }
}

void read_restart(TomlReader& reader, RestartConfig& restart) {
  const TomlNode* node = reader.take("restart");
  if (node == nullptr) return;
  TomlReader table(*node, reader.where(), "restart");
  table.read("first_start", restart.first_start);
  table.read("restart", restart.restart);
  table.read("checkpoint_interval", restart.checkpoint_interval);
  table.read("stop_saves", restart.stop_saves);
  if (const TomlNode* rows = table.take("by_size")) {
    restart.by_size.clear();
    for (const TomlNode& item : rows->items) {
      TomlReader row(item, reader.where(), "restart.by_size");
      std::pair<long long, Seconds> cost{0, 0};
      row.read("gpus", cost.first);
      row.read("seconds", cost.second);
      table.keep(row.finish());
      restart.by_size.push_back(cost);
    }
  }
  table.read("unknown", restart.unknown);
  if (const TomlNode* rows = table.take("table")) {
    restart.table.clear();
    for (const TomlNode& item : rows->items) {
      TomlReader row(item, reader.where(), "restart.table");
      RestartRow cost;
      row.read("model", cost.model);
      row.read("gpus", cost.gpus);
      row.read("seconds", cost.seconds);
      table.keep(row.finish());
      restart.table.push_back(std::move(cost));
    }
  }
  reader.keep(table.finish());
}

void read_stages(TomlReader& reader, RunConfig& config, const std::string& folder) {
  if (const TomlNode* node = reader.take("partitions")) {
    TomlReader table(*node, reader.where(), "partitions");
    table.read("apart", config.partitions_apart);
    reader.keep(table.finish());
  }
  if (const TomlNode* node = reader.take("forecast")) {
    ForecastConfig& forecast = config.forecast;
    TomlReader table(*node, reader.where(), "forecast");
    read_path(table, *node, "file", folder, forecast.file);
    table.read("begin", forecast.begin);
    table.read("slot", forecast.slot);
    table.read("jobs", forecast.jobs);
    table.read("gpus", forecast.gpus);
    table.read("nodes", forecast.nodes);
    reader.keep(table.finish());
  }
  if (const TomlNode* node = reader.take("profiling")) {
    ProfilingConfig& profiling = config.profiling;
    TomlReader table(*node, reader.where(), "profiling");
    table.read("nodes", profiling.nodes);
    table.read("gpus_per_node", profiling.gpus_per_node);
    table.read("limit", profiling.limit);
    table.read("largest", profiling.largest);
    table.read("borrow", profiling.borrow);
    table.read_names("donors", profiling.donors);
    table.read("lender", profiling.lender);
    table.read("free", profiling.free);
    table.read("online", profiling.online);
    table.read("within", profiling.within);
    reader.keep(table.finish());
  }
}

void read_durations(TomlReader& reader, RunConfig& config) {
  if (const TomlNode* node = reader.take("durations")) {
    if (const auto durations = parse_durations(node->text)) {
      config.durations = *durations;
    } else {
      reader.fail(*node, "'durations' is '" + node->text + "', but must be true, estimate or none");
    }
  }
  read_choice(reader, "errors", config.errors);
}

void read_prices(TomlReader& reader, PricesConfig& prices, const std::string& folder) {
  const TomlNode* node = reader.take("prices");
  if (node == nullptr) return;
  TomlReader table(*node, reader.where(), "prices");
  read_path(table, *node, "file", folder, prices.file);
  table.read("sellers", prices.sellers);
  if (const TomlNode* rows = table.take("table")) {
    TomlReader inner(*rows, reader.where(), "prices.table");
    for (const auto& member : rows->members) inner.read(member.name, prices.table[member.name]);
    table.keep(inner.finish());
  }
  reader.keep(table.finish());
}

// Its own where it is given, else the run's.
void read_seed(TomlReader& table, const TomlNode& node, std::optional<long long>& seed) {
  if (node.find("seed") != nullptr) {
    long long given = 0;
    table.read("seed", given);
    seed = given;
  }
  table.take("seed");
}

void read_life(TomlReader& reader, RunConfig& config) {
  const TomlNode* node = reader.take("life");
  if (node == nullptr) return;
  TomlReader table(*node, reader.where(), "life");
  table.read("start_latency", config.life.start_latency);
  table.read("stop_latency", config.life.stop_latency);
  table.read("spread", config.life.spread);
  table.read("start_failure", config.life.start_failure);
  table.read("partial_gang", config.life.partial_gang);
  table.read("start_limit", config.life.start_limit);
  table.read("report_delay", config.life.report_delay);
  table.read("report_loss", config.life.report_loss);
  table.read("census", config.life.census);
  read_seed(table, *node, config.life_seed);
  reader.keep(table.finish());
}

void read_failures(TomlReader& reader, RunConfig& config) {
  const TomlNode* node = reader.take("failures");
  if (node == nullptr) return;
  TomlReader table(*node, reader.where(), "failures");
  table.read("node_mtbf", config.failures.node_mtbf);
  table.read("node_repair", config.failures.node_repair);
  table.read("gpu_mtbf", config.failures.gpu_mtbf);
  table.read("gpu_repair", config.failures.gpu_repair);
  read_seed(table, *node, config.failure_seed);
  reader.keep(table.finish());
}

void read_rest(TomlReader& reader, RunConfig& config, const std::string& folder) {
  if (const TomlNode* node = reader.take("engine")) {
    TomlReader table(*node, reader.where(), "engine");
    long long crashes = config.engine.max_crashes;
    table.read("max_crashes", crashes);
    if (crashes < 0 || crashes > 1'000'000) {
      table.fail(*node, "'engine.max_crashes' must lie between 0 and 1000000");
    }
    config.engine.max_crashes = static_cast<int>(crashes);
    table.read("count_host", config.engine.count_host);
    table.read("until", config.engine.until);
    reader.keep(table.finish());
  }
  if (const TomlNode* node = reader.take("measure")) {
    TomlReader table(*node, reader.where(), "measure");
    const auto read = [&](std::string_view name, std::optional<long long>& value) {
      long long number = value.value_or(-1);
      table.read(name, number);
      if (number >= 0) value = number;
    };
    read("first", config.measure.first);
    read("last", config.measure.last);
    table.read("stop", config.measure.stop);
    reader.keep(table.finish());
  }
  if (const TomlNode* node = reader.take("output")) {
    TomlReader table(*node, reader.where(), "output");
    table.read("folder", config.output.folder);
    if (node->find("folder") != nullptr) {
      config.output.folder = beside(folder, config.output.folder);
    }
    table.read("force", config.output.force);
    table.read("jobs", config.output.jobs);
    table.read("decisions", config.output.decisions);
    table.read("turns", config.output.turns);
    reader.keep(table.finish());
  }
}

void read_usual(TomlReader& reader, RunConfig& config) {
  const TomlNode* node = reader.take("usual");
  if (node == nullptr) return;
  TomlReader table(*node, reader.where(), "usual");
  for (const PluginKind& kind : plugin_kinds()) {
    const TomlNode* rows = table.take(kind.key);
    if (rows == nullptr) continue;
    for (const auto& [name, params] : rows->members) {
      if (const auto row = find_plugin(kind, name); !row) {
        table.fail(params, row.error().message);
        continue;
      }
      TomlReader inner(params, reader.where(), fmt::format("usual.{}.{}", kind.key, name));
      inner.read_rest(config.usual[std::string(kind.key)][name]);
      table.keep(inner.finish());
    }
  }
  reader.keep(table.finish());
}

}  // namespace

Status apply_toml(RunConfig& config, const TomlNode& document, const std::string& where,
                  const std::string& folder) {
  TomlReader reader(document, where);
  reader.read("name", config.name);
  reader.read("preset", config.preset);
  reader.read("seed", config.seed);
  read_workload(reader, config.workload, folder);
  read_cluster(reader, config.cluster, folder);
  read_choice(reader, "pacing", config.pacing);
  read_choice(reader, "progress", config.progress);
  read_choice(reader, "accounting", config.accounting);
  read_choice(reader, "execution", config.execution);
  read_choice(reader, "admission", config.admission);
  read_choice(reader, "scheduling", config.scheduling);
  const auto durations = config.scheduling.params.find(kDurations);
  if (document.find("scheduling") != nullptr && durations != config.scheduling.params.end() &&
      names_a_file(durations->second)) {
    durations->second = beside(folder, durations->second);
  }
  read_choice(reader, "placement", config.placement);
  read_choices(reader, "perf", config.perf);
  if (document.find("perf") != nullptr) find_perf_files(config.perf, folder);
  read_choices(reader, "beliefs", config.beliefs);
  if (document.find("beliefs") != nullptr) find_perf_files(config.beliefs, folder);
  read_durations(reader, config);
  reader.read_names("metrics", config.metrics);
  read_choice(reader, "scaling", config.scaling);
  read_choice(reader, "selector", config.selector);
  read_policy_sets(reader, config);
  read_stages(reader, config, folder);
  read_prices(reader, config.prices, folder);
  read_restart(reader, config.restart);
  read_failures(reader, config);
  read_life(reader, config);
  read_rest(reader, config, folder);
  read_usual(reader, config);
  return reader.finish();
}

}  // namespace muster
