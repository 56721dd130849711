#include "cli/app.h"

#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"

namespace muster {

std::unique_ptr<CLI::App> make_app(Chosen& chosen) {
  auto app = std::make_unique<CLI::App>(
      "One scheduling core for GPU clusters: simulate it, compare policies, reproduce published "
      "results.",
      "muster");
  app->set_version_flag("--version", "muster " MUSTER_VERSION, "Print the version and exit");
  app->set_help_flag("-h,--help", "Print this help and exit");
  app->require_subcommand(0, 1);
  add_demo_command(*app, chosen);
  add_simulate_command(*app, chosen);
  add_compare_command(*app, chosen);
  add_sweep_command(*app, chosen);
  add_reproduce_command(*app, chosen);
  add_policies_command(*app, chosen);
  add_report_command(*app, chosen);
  add_data_command(*app, chosen);
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

int run_command(int argc, char** argv) {
  Chosen chosen;
  const std::unique_ptr<CLI::App> app = make_app(chosen);
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version come as exceptions too, with status 0.
    if (error.get_exit_code() == 0) return app->exit(error);
    fmt::print(stderr, "muster: {}\n", error.what());
    const auto parsed = app->get_subcommands();
    fmt::print(stderr, "Try: muster {}--help\n",
               parsed.empty() ? "" : parsed.front()->get_name() + " ");
    return kExitBadInput;
  }
  if (!chosen.run) {
    fmt::print("{}", app->help());
    return kExitBadInput;
  }
  const int status = chosen.run();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return complain(Error{"cannot write to standard output: is the disk full?"}, kExitFailed);
  }
  return status;
}

}  // namespace muster
