// The subcommands of `muster`. Each declares its options on the parser. The one that was called
// stores its work in `chosen`; main runs it after the whole command line has been parsed.
//
//   void add_trace_command(CLI::App& app, Chosen& chosen) {
//     CLI::App* command = app.add_subcommand("trace", "...");
//     const auto options = std::make_shared<TraceOptions>();
//     command->add_option("FILE", options->file, "...")->required();
//     command->footer("Examples:\n  muster trace info philly.csv");
//     command->callback([options, &chosen] { chosen.run = [options] { return run(*options); }; });
//   }
//
// Results go to standard output, everything else (progress, notes, errors) to standard error.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace CLI {
class App;
}

namespace muster {

// Exit statuses of the command, as documented in docs/command-line.md.
enum ExitStatus : int {
  kExitOk = 0,
  kExitFailed = 1,         // a comparison beyond its tolerance, or a failure while running
  kExitBadInput = 2,       // wrong usage, or a file that cannot be read or understood
  kExitInterrupted = 130,  // Ctrl-C
};

struct Chosen {
  std::function<int()> run;
};

// Prints "muster: message" to standard error and returns `status`.
int complain(const Error& error, int status = kExitBadInput);
// What is wrong with an option's value that must be above zero; empty: nothing.
std::string not_above_zero(const std::string& text);
// Prints "muster: note: ..." or "muster: warning: ..." to standard error.
void note(std::string_view text);
void warn(std::string_view text);

void add_simulate_command(CLI::App& app, Chosen& chosen);
void add_compare_command(CLI::App& app, Chosen& chosen);
void add_sweep_command(CLI::App& app, Chosen& chosen);
void add_reproduce_command(CLI::App& app, Chosen& chosen);
void add_policies_command(CLI::App& app, Chosen& chosen);
void add_build_policy_command(CLI::App& app, Chosen& chosen);
void add_explain_command(CLI::App& app, Chosen& chosen);
void add_what_if_command(CLI::App& app, Chosen& chosen);
void add_report_command(CLI::App& app, Chosen& chosen);
void add_demo_command(CLI::App& app, Chosen& chosen);
void add_trace_command(CLI::App& app, Chosen& chosen);
void add_cluster_command(CLI::App& app, Chosen& chosen);
void add_data_command(CLI::App& app, Chosen& chosen);
// Below `muster trace`; the trace command calls it.
void add_trace_generate(CLI::App& trace, Chosen& chosen);
void add_learn_command(CLI::App& app, Chosen& chosen);
// Below `muster learn`; the learn command calls it.
void add_learn_trace_commands(CLI::App& learn, Chosen& chosen);
void add_bench_command(CLI::App& app, Chosen& chosen);
// The live service: the daemon, and the commands that talk to one.
void add_serve_command(CLI::App& app, Chosen& chosen);
void add_submit_command(CLI::App& app, Chosen& chosen);
void add_job_commands(CLI::App& app, Chosen& chosen);
void add_node_commands(CLI::App& app, Chosen& chosen);
void add_logs_command(CLI::App& app, Chosen& chosen);
void add_top_command(CLI::App& app, Chosen& chosen);
void add_token_command(CLI::App& app, Chosen& chosen);
void add_drive_command(CLI::App& app, Chosen& chosen);
void add_replay_command(CLI::App& app, Chosen& chosen);
void add_trainer_command(CLI::App& app, Chosen& chosen);
void add_completion_command(CLI::App& app, Chosen& chosen);

}  // namespace muster
