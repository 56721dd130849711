#include <cstdlib>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/live/daemon_link.h"
#include "run/config/toml.h"

extern char** environ;

namespace muster {
namespace {

using Json = nlohmann::json;

struct SubmitOptions {
  LinkOptions link;
  std::vector<std::string> words;  // FILE, or the command
  std::string gpus;                // N or LEAST-MOST
  std::string name, gpu_type, partition, model, working_directory, checkpoint_directory, request;
  std::string priority, deadline, time_limit, estimate, iterations, step_ms, batch_size, cpus;
  std::string memory_gb, stage_ms;
  std::string retries, grace;
  std::vector<std::string> environment;
  bool process_per_gpu = false;
  bool hold = false;
  bool all_environment = false;
};

// What a program usually needs of its caller's environment; all else only where it is asked for.
bool usual_variable(std::string_view name) {
  for (const std::string_view known :
       {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "PYTHONPATH",
        "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "LD_LIBRARY_PATH", "CUDA_HOME"}) {
    if (name == known) return true;
  }
  return name.starts_with("LC_");
}

Status add_environment(const SubmitOptions& options, Json& job) {
  Json& variables = job["environment"];
  if (!variables.is_object()) variables = Json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    const std::string name(text.substr(0, equals));
    if (!options.all_environment && !usual_variable(name)) continue;
    if (!variables.contains(name)) variables[name] = std::string(text.substr(equals + 1));
  }
  for (const std::string& text : options.environment) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const char* own = std::getenv(name.c_str());
    if (equals == std::string::npos && own == nullptr) {
      return Error{
          fmt::format("--env {}: the variable is not set here; give it a value with "
                      "--env {}=VALUE",
                      name, name)};
    }
    variables[name] = equals == std::string::npos ? std::string(own) : text.substr(equals + 1);
  }
  return Done{};
}

Json json_of(const TomlNode& node) {
  Json json;
  switch (node.kind) {
    case TomlNode::Kind::kText:
      return node.text;
    case TomlNode::Kind::kFlag:
      return node.text == "true";
    case TomlNode::Kind::kInteger:
      return parse_integer(node.text).value_or(0);
    case TomlNode::Kind::kReal:
      return parse_real(node.text).value_or(0);
    case TomlNode::Kind::kArray:
      json = Json::array();
      for (const TomlNode& item : node.items) json.push_back(json_of(item));
      return json;
    case TomlNode::Kind::kTable:
      json = Json::object();
      for (const TomlMember& member : node.members) json[member.name] = json_of(member.value);
  }
  return json;
}

Status add_gpus(const std::string& text, Json& job) {
  if (text.empty()) return Done{};
  const std::size_t dash = text.find('-');
  const auto first = parse_integer(text.substr(0, dash));
  const auto last = dash == std::string::npos ? first : parse_integer(text.substr(dash + 1));
  if (!first || !last || *first < 1 || *last < *first) {
    return Error{fmt::format("--gpus {}: expected a number, or a range such as 1-4", text)};
  }
  job["gpus"] = *last;
  if (dash != std::string::npos) {
    job["min_gpus"] = *first;
    job["max_gpus"] = *last;
  }
  return Done{};
}

Status add_stages(const std::string& text, Json& job) {
  if (text.empty()) return Done{};
  Json stages = Json::object();
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const auto ms =
        equals == std::string_view::npos ? std::nullopt : parse_real(trim(part.substr(equals + 1)));
    if (!ms) {
      return Error{fmt::format(
          "--stage-ms {}: expected milliseconds by stage, as in storage=5,cpu=10,gpu=40,network=8",
          text)};
    }
    stages[std::string(trim(part.substr(0, equals)))] = *ms;
  }
  job["stage_ms"] = stages;
  return Done{};
}

Status add_options(const SubmitOptions& options, Json& job) {
  const std::pair<const char*, const std::string*> texts[] = {
      {"name", &options.name},   {"gpu_type", &options.gpu_type}, {"partition", &options.partition},
      {"model", &options.model}, {"request", &options.request},
  };
  for (const auto& [key, value] : texts) {
    if (!value->empty()) job[key] = *value;
  }
  const std::pair<const char*, const std::string*> numbers[] = {
      {"priority", &options.priority},     {"deadline", &options.deadline},
      {"time_limit", &options.time_limit}, {"estimate", &options.estimate},
      {"iterations", &options.iterations}, {"step_ms", &options.step_ms},
      {"batch_size", &options.batch_size}, {"cpus", &options.cpus},
      {"memory_gb", &options.memory_gb},   {"retries", &options.retries},
      {"grace", &options.grace},
  };
  for (const auto& [key, value] : numbers) {
    if (value->empty()) continue;
    const auto number = parse_real(*value);
    if (!number) return Error{fmt::format("{}: '{}' is not a number", key, *value)};
    job[key] = *number;
  }
  if (options.process_per_gpu) job["process_per_gpu"] = true;
  if (options.hold) job["hold"] = true;
  if (Status added = add_stages(options.stage_ms, job); !added) return added;
  return add_gpus(options.gpus, job);
}

// A single word that ends in .toml is a description; everything else is the command itself.
Result<Json> described(const SubmitOptions& options) {
  Json job = Json::object();
  const auto& words = options.words;
  std::filesystem::path folder = std::filesystem::current_path();
  if (words.size() == 1 && words[0].ends_with(".toml")) {
    const auto file = read_toml(words[0]);
    if (!file) return file.error();
    job = json_of(*file);
    folder = std::filesystem::absolute(words[0]).parent_path();
  } else if (!words.empty()) {
    job["command"] = words;
  }
  if (Status added = add_options(options, job); !added) return added.error();
  if (Status added = add_environment(options, job); !added) return added.error();
  const auto anchor = [&](const char* key, const std::string& given) {
    if (!given.empty()) {
      job[key] = std::filesystem::absolute(given).lexically_normal().string();
    } else if (job.contains(key) && job[key].is_string()) {
      job[key] = (folder / job[key].get<std::string>()).lexically_normal().string();
    }
  };
  anchor("working_directory", options.working_directory);
  anchor("checkpoint_directory", options.checkpoint_directory);
  if (!job.contains("working_directory")) job["working_directory"] = folder.string();
  return job;
}

int submit(const SubmitOptions& options) {
  if (options.words.empty()) {
    return complain(Error{"nothing to submit: give a file, or a command after --"});
  }
  const auto job = described(options);
  if (!job) return complain(job.error());
  auto link = DaemonLink::open(options.link);
  if (!link) return complain(link.error(), kExitFailed);
  const auto answer =
      link->post("/v1/jobs", job->dump(-1, ' ', false, Json::error_handler_t::replace));
  if (!answer) return complain(answer.error(), kExitFailed);
  if (options.link.json) {
    fmt::print("{}", *answer);
  } else {
    const Json told = Json::parse(*answer);
    fmt::print("{}\n", told["id"].get<std::uint64_t>());
    for (const Json& note : told.value("notes", Json::array())) {
      fmt::print(stderr, "note: {}\n", note.get<std::string>());
    }
  }
  return kExitOk;
}

void add_submit_options(CLI::App& command, SubmitOptions& o) {
  command.add_option("COMMAND", o.words, "a job file (.toml), or the program and its arguments");
  command.add_option("--gpus", o.gpus, "GPUs: a number, or a range such as 1-4")->type_name("N");
  command.add_option("--name", o.name, "name of the job, for people");
  command.add_option("--gpu-type", o.gpu_type, "only GPUs of this type")->type_name("TYPE");
  command.add_option("--partition", o.partition, "partition of the cluster");
  command.add_option("--priority", o.priority, "larger is more important")->type_name("N");
  command.add_option("--deadline", o.deadline, "seconds from now")->type_name("SECONDS");
  command.add_option("--time-limit", o.time_limit, "seconds with GPUs, over all launches")
      ->type_name("SECONDS");
  command.add_option("--estimate", o.estimate, "how long you believe it runs")
      ->type_name("SECONDS");
  command.add_option("--iterations", o.iterations, "training steps in all")->type_name("N");
  command.add_option("--step-ms", o.step_ms, "milliseconds of a training step, alone")
      ->type_name("MS");
  command
      .add_option("--stage-ms", o.stage_ms,
                  "milliseconds of a training step on storage, CPU, GPU and network, for policies "
                  "that interleave")
      ->type_name("STAGE=MS,...");
  command.add_option("--batch-size", o.batch_size, "for policies that scale it")->type_name("N");
  command.add_option("--model", o.model, "what it trains, for performance models");
  command.add_option("--cpus", o.cpus, "CPU cores for the whole job")->type_name("N");
  command.add_option("--memory", o.memory_gb, "gigabytes for the whole job")->type_name("GB");
  command.add_option("--retries", o.retries, "how often it may fail by itself")->type_name("N");
  command.add_option("--grace", o.grace, "time to save its work when it loses its GPUs")
      ->type_name("SECONDS");
  command.add_option("--env", o.environment, "NAME=VALUE, or NAME to pass on your own value")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_flag("--env-all", o.all_environment, "pass your whole environment on");
  command.add_option("--workdir", o.working_directory, "where it runs (default: here)")
      ->type_name("FOLDER");
  command
      .add_option("--checkpoints", o.checkpoint_directory,
                  "where it saves its work; it sees this as MUSTER_CHECKPOINT_DIR")
      ->type_name("FOLDER");
  command.add_flag("--per-gpu", o.process_per_gpu,
                   "one process for each GPU, with its rank; else one that has them all");
  command.add_flag("--hold", o.hold, "do not start it before `muster release`");
  command
      .add_option("--request", o.request,
                  "an id of your own: the same one again gives the same job")
      ->type_name("ID");
}

}  // namespace

void add_submit_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("submit", "Submit a job to a running daemon");
  const auto options = std::make_shared<SubmitOptions>();
  add_submit_options(*command, *options);
  add_link_options(*command, options->link);
  command->footer(
      "Examples:\n"
      "  muster submit --gpus 2 --name bert -- python train.py --epochs 3\n"
      "  muster submit --gpus 1-4 --checkpoints ckpt -- python train.py\n"
      "  muster submit job.toml\n"
      "\n"
      "It prints the number of the job, once the job is durable. A job gets PATH, HOME, LANG and "
      "the\n"
      "like of your environment; the rest with --env or --env-all.");
  command->callback([options, &chosen] { chosen.run = [options] { return submit(*options); }; });
}

}  // namespace muster
