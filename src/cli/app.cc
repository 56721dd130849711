#include "cli/app.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/shared_library.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help_format.h"
#include "cli/python_command.h"
#include "run/config/policy_plugins.h"

namespace muster {

std::unique_ptr<CLI::App> make_app(Chosen& chosen) {
  auto app = std::make_unique<CLI::App>(
      "One scheduling core for GPU clusters: simulate it, compare policies, reproduce published "
      "results.",
      "muster");
  app->formatter(help_formatter());
  app->set_version_flag("--version", "muster " MUSTER_VERSION, "Print the version and exit");
  app->set_help_flag("-h,--help", "Print this help and exit");
  app->require_subcommand(0, 1);
  add_demo_command(*app, chosen);
  add_simulate_command(*app, chosen);
  add_compare_command(*app, chosen);
  add_sweep_command(*app, chosen);
  add_reproduce_command(*app, chosen);
  add_explain_command(*app, chosen);
  add_what_if_command(*app, chosen);
  add_report_command(*app, chosen);
  add_trace_command(*app, chosen);
  add_cluster_command(*app, chosen);
  add_data_command(*app, chosen);
  add_learn_command(*app, chosen);
  add_serve_command(*app, chosen);
  add_submit_command(*app, chosen);
  add_job_commands(*app, chosen);
  add_logs_command(*app, chosen);
  add_node_commands(*app, chosen);
  add_top_command(*app, chosen);
  add_token_command(*app, chosen);
  add_drive_command(*app, chosen);
  add_replay_command(*app, chosen);
  add_trainer_command(*app, chosen);
  add_bench_command(*app, chosen);
  add_policies_command(*app, chosen);
  add_build_policy_command(*app, chosen);
  add_completion_command(*app, chosen);
  app->footer(
      "First steps:\n"
      "  muster demo                                    a comparison on built-in defaults\n"
      "  muster simulate trace.csv --cluster 16x8       one run\n"
      "  muster policies                                what can be chosen\n"
      "  muster simulate --help                         options and examples of a subcommand\n"
      "\n"
      "Exit status: 0 done, 1 failed or beyond a tolerance, 2 bad usage or input, 130 "
      "interrupted.");
  return app;
}

namespace {

// "did you mean" for a subcommand or option that does not exist; empty if nothing is near.
std::string suggestion(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) return "";
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::string word = words.front().substr(0, words.front().find('='));
  const auto near = nearest(word, std::vector<std::string_view>(names.begin(), names.end()));
  return near ? fmt::format("; did you mean '{}'?", *near) : "";
}

// The first word that should be a command and is none. The parser alone would answer `muster serve
// --help` with the general help, as if there were such a command.
std::optional<int> unknown_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  std::string path;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    const auto commands = at->get_subcommands([](const CLI::App*) { return true; });
    if (commands.empty()) return std::nullopt;
    const auto named = std::find_if(commands.begin(), commands.end(), [&](const CLI::App* command) {
      return command->get_name() == argv[i];
    });
    if (named == commands.end()) {
      std::vector<std::string> names;
      for (const CLI::App* command : commands) {
        if (!command->get_group().empty()) names.push_back(command->get_name());
      }
      return complain(Error{
          unknown_name(path.empty() ? "command" : fmt::format("`muster {}` command", trim(path)),
                       argv[i], std::vector<std::string_view>(names.begin(), names.end()))});
    }
    at = *named;
    path += at->get_name() + " ";
  }
  return std::nullopt;
}

int bad_usage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* at = &app;
  std::string path;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    path += at->get_name() + " ";
  }
  const std::vector<std::string> words = at->remaining();
  if (words.empty()) {
    fmt::print(stderr, "muster: {}\n", error.what());
  } else {
    fmt::print(stderr, "muster: '{}' is not a command or option here{}\n", words.front(),
               suggestion(*at, words));
  }
  fmt::print(stderr, "Try: muster {}--help\n", path);
  return kExitBadInput;
}

// Options of the command line name policies, so policies from outside are loaded before it is
// parsed: those of MUSTER_PLUGINS, then those of --plugin.
Status load_plugins(int argc, char** argv) {
  std::vector<std::string> paths;
  if (const char* list = std::getenv("MUSTER_PLUGINS")) {
    for (const std::string_view path : split(list, ':')) {
      if (!path.empty()) paths.emplace_back(path);
    }
  }
  constexpr std::string_view kOption = "--plugin";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == kOption && i + 1 < argc) paths.emplace_back(argv[i + 1]);
    if (word.starts_with("--plugin=")) paths.emplace_back(word.substr(kOption.size() + 1));
  }
  for (const std::string& path : paths) {
    if (Status loaded = load_policy_plugin(path); !loaded) return loaded;
  }
  return Done{};
}

}  // namespace

int run_command(int argc, char** argv) {
  if (Status loaded = load_plugins(argc, argv); !loaded) return complain(loaded.error());
  Chosen chosen;
  const std::unique_ptr<CLI::App> app = make_app(chosen);
  if (const auto status = unknown_command(*app, argc, argv)) return *status;
  if (const auto status = hand_to_python(argc, argv)) return *status;
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version come as exceptions too, with status 0.
    if (error.get_exit_code() == 0) return app->exit(error);
    return bad_usage(*app, error);
  }
  if (!chosen.run) {
    fmt::print("{}", app->help());
    return kExitBadInput;
  }
  const Error unwritable{"cannot write to standard output: is the disk full?"};
  try {
    const int status = chosen.run();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      return complain(unwritable, kExitFailed);
    }
    return status;
  } catch (const std::system_error&) {
    // The formatting library throws when a stream cannot be written.
    return complain(unwritable, kExitFailed);
  } catch (const MissingLibrary& missing) {
    return complain(Error{missing.what()}, kExitFailed);
  } catch (const std::bad_alloc&) {
    return complain(
        Error{"out of memory; `muster simulate --stream` reads a sorted trace in little memory"},
        kExitFailed);
  }
}

}  // namespace muster
