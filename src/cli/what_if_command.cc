#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/live/daemon_link.h"
#include "report/terminal.h"
#include "run/whatif/saved_state.h"

namespace muster {
namespace {

struct WhatIfOptions {
  std::string saved;
  LinkOptions link;
  Question question;
};

int ask_daemon(const WhatIfOptions& options) {
  auto link = DaemonLink::open(options.link);
  if (!link) return complain(link.error(), kExitFailed);
  const auto answer = link->post(options.link.json ? "/v1/what-if" : "/v1/what-if?as=text",
                                 question_json(options.question));
  if (!answer) return complain(answer.error());
  fmt::print("{}", *answer);
  return kExitOk;
}

int what_if(const WhatIfOptions& options) {
  if (options.saved.empty()) return ask_daemon(options);
  auto state = SavedState::open(options.saved);
  if (!state) return complain(state.error());
  Subject subject = (*state)->subject();
  const auto answer = ask(subject, options.question);
  if (!answer) return complain(answer.error());
  if (Status known = know_jobs(*answer, options.question.jobs); !known) {
    return complain(known.error());
  }
  if (options.link.json) {
    fmt::print("{}\n", answer_json(*answer));
    return kExitOk;
  }
  const auto text = answer_text(*answer, options.question.jobs, wants_colour(STDOUT_FILENO));
  if (!text) return complain(text.error());
  fmt::print("{}", *text);
  return kExitOk;
}

void add_changes(CLI::App& command, Question& question) {
  constexpr const char* kChanges = "What could be different";
  command.add_option("-s,--scheduling", question.scheduling, "another scheduling policy")
      ->type_name("NAME")
      ->group(kChanges);
  command.add_option("-p,--placement", question.placement, "another placement policy")
      ->type_name("NAME")
      ->group(kChanges);
  command.add_option("-a,--admission", question.admission, "another admission policy")
      ->type_name("NAME")
      ->group(kChanges);
  command.add_option("--add-nodes", question.change.add_nodes, "more nodes, as in 2x8 or 2x8:v100")
      ->type_name("SHAPE")
      ->group(kChanges);
  command
      .add_option("--drain", question.change.drain,
                  "nodes that take nothing new: node=3, rack=1 or partition=NAME")
      ->allow_extra_args(false)
      ->type_name("NODES")
      ->group(kChanges);
  command
      .add_option("--submit", question.change.submit,
                  "one more job, submitted now: gpus=4,duration=3600")
      ->allow_extra_args(false)
      ->type_name("JOB")
      ->group(kChanges);
}

}  // namespace

void add_what_if_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("what-if",
                                         "Ask a running daemon, or a saved run, when jobs will "
                                         "start and end, and what a change would do");
  const auto options = std::make_shared<WhatIfOptions>();
  Question& question = options->question;
  CLI::Option* saved = command->add_option(
      "SAVED", options->saved,
      "file that `muster simulate --save-run` wrote; without it, the daemon is asked");
  add_link_options(*command, options->link);
  command->get_option("--state")->excludes(saved);
  command->add_option("--job", question.jobs, "job to show, by name or number (#12); repeatable")
      ->allow_extra_args(false)
      ->type_name("JOB");
  add_changes(*command, question);
  command
      ->add_option("--errors", question.errors,
                   "error model of believed durations, as in log-normal:sigma=1; gives the ranges")
      ->type_name("NAME");
  command->add_option("--samples", question.samples, "futures drawn for the ranges")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command->add_option("--horizon", question.horizon, "look no further ahead than this")
      ->type_name("SECONDS")
      ->check(not_above_zero, "POSITIVE");
  command->footer(
      "Examples:\n"
      "  muster simulate trace.csv -c 2x8 --save-at 50 --save-run state --no-save\n"
      "  muster what-if state\n"
      "  muster what-if state --job '#50' --errors log-normal:sigma=0.7\n"
      "  muster what-if state --scheduling srtf\n"
      "  muster what-if state --add-nodes 2x8\n"
      "  muster what-if state --drain node=1 --submit gpus=8,duration=7200\n"
      "  muster what-if --scheduling srtf                           # the daemon that runs\n"
      "\n"
      "Copies of the state run on without new jobs. Times in brackets hold in 8 of 10 copies with\n"
      "randomly drawn job lengths. See docs/what-if.md.");
  command->callback([options, &chosen] { chosen.run = [options] { return what_if(*options); }; });
}

}  // namespace muster
