#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "report/terminal.h"
#include "run/whatif/answer.h"
#include "run/whatif/saved_state.h"

namespace muster {
namespace {

struct WhatIfOptions {
  std::string state;
  std::vector<std::string> jobs;
  std::string scheduling;
  std::string placement;
  std::string admission;
  Change change;
  OutlookOptions outlook;
  std::string errors;
  bool json = false;
};

Result<PolicySetConfig> other_policies(const WhatIfOptions& options) {
  PolicySetConfig others;
  const std::tuple<const std::string*, std::string_view, Choice*> choices[] = {
      {&options.scheduling, "--scheduling", &others.scheduling},
      {&options.placement, "--placement", &others.placement},
      {&options.admission, "--admission", &others.admission}};
  for (const auto& [text, what, choice] : choices) {
    if (text->empty()) continue;
    auto parsed = parse_choice(*text, what);
    if (!parsed) return parsed.error();
    *choice = std::move(*parsed);
  }
  return others;
}

int what_if(const WhatIfOptions& options) {
  auto state = SavedState::open(options.state);
  if (!state) return complain(state.error());
  SavedState& saved = **state;
  Change change = options.change;
  if (!options.scheduling.empty() || !options.placement.empty() || !options.admission.empty()) {
    const auto others = other_policies(options);
    if (!others) return complain(others.error());
    const auto policies = saved.policies_with(*others);
    if (!policies) return complain(policies.error());
    change.policies = *policies;
  }
  OutlookOptions outlook = options.outlook;
  auto errors = errors_of(saved.config(), options.errors, saved.symbols());
  if (!errors) return complain(errors.error());
  outlook.errors = std::move(*errors);
  const auto answer = ask(saved.world(), saved.parts(), change, outlook, saved.symbols());
  if (!answer) return complain(answer.error());
  if (options.json) {
    fmt::print("{}\n", answer_json(*answer));
    return kExitOk;
  }
  const auto text = answer_text(*answer, options.jobs, wants_colour(STDOUT_FILENO));
  if (!text) return complain(text.error());
  fmt::print("{}", *text);
  return kExitOk;
}

void add_changes(CLI::App& command, WhatIfOptions& options) {
  constexpr const char* kChanges = "What could be different";
  command.add_option("-s,--scheduling", options.scheduling, "another scheduling policy")
      ->type_name("NAME")
      ->group(kChanges);
  command.add_option("-p,--placement", options.placement, "another placement policy")
      ->type_name("NAME")
      ->group(kChanges);
  command.add_option("-a,--admission", options.admission, "another admission policy")
      ->type_name("NAME")
      ->group(kChanges);
  command.add_option("--add-nodes", options.change.add_nodes, "more nodes, as in 2x8 or 2x8:v100")
      ->type_name("SHAPE")
      ->group(kChanges);
  command
      .add_option("--drain", options.change.drain,
                  "nodes that take nothing new: node=3, rack=1 or partition=NAME")
      ->allow_extra_args(false)
      ->type_name("NODES")
      ->group(kChanges);
  command
      .add_option("--submit", options.change.submit,
                  "one more job, submitted now: gpus=4,duration=3600")
      ->allow_extra_args(false)
      ->type_name("JOB")
      ->group(kChanges);
}

}  // namespace

void add_what_if_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "what-if", "Ask a saved run when jobs will start and end, and what a change would do");
  const auto options = std::make_shared<WhatIfOptions>();
  command->add_option("STATE", options->state, "file that `muster simulate --save-run` wrote")
      ->required();
  command->add_option("--job", options->jobs, "job to show, by name or number (#12); repeatable")
      ->allow_extra_args(false)
      ->type_name("JOB");
  add_changes(*command, *options);
  command
      ->add_option("--errors", options->errors,
                   "how wrong beliefs are, as in log-normal:sigma=1; gives the bands")
      ->type_name("NAME");
  command->add_option("--samples", options->outlook.samples, "lives drawn for the bands")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command->add_option("--horizon", options->outlook.horizon, "look no further ahead than this")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options->json, "print all jobs as JSON");
  command->footer(
      "Examples:\n"
      "  muster simulate trace.csv -c 2x8 --save-at 50 --save-run state --no-save\n"
      "  muster what-if state\n"
      "  muster what-if state --job '#50' --errors log-normal:sigma=0.7\n"
      "  muster what-if state --scheduling srtf\n"
      "  muster what-if state --add-nodes 2x8\n"
      "  muster what-if state --drain node=1 --submit gpus=8,duration=7200\n"
      "\n"
      "Copies of the state run on without new jobs. Times in brackets hold in 8 of 10 copies "
      "whose\n"
      "jobs have drawn lengths. docs/what-if.md tells more.");
  command->callback([options, &chosen] { chosen.run = [options] { return what_if(*options); }; });
}

}  // namespace muster
