#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "daemon/record/recorder.h"

namespace muster {
namespace {

struct ReplayOptions {
  std::string file;
  bool json = false;
};

int replay(const ReplayOptions& options) {
  const auto outcome = replay_recording(options.file);
  if (!outcome) return complain(outcome.error());
  if (options.json) {
    fmt::print("{{\"segments\":{},\"turns\":{},\"decisions\":{},\"same\":{}}}\n", outcome->segments,
               outcome->turns, outcome->decisions, outcome->difference.empty());
  }
  if (!outcome->difference.empty()) return complain(Error{outcome->difference}, kExitFailed);
  if (!options.json) {
    fmt::print("{} decisions in {} turns of {} segments: all the same\n", outcome->decisions,
               outcome->turns, outcome->segments);
  }
  if (outcome->cut_off) note("a line is not whole: its daemon was killed while it wrote");
  return kExitOk;
}

}  // namespace

void add_replay_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("replay", "Replay the recording of a daemon and compare every decision");
  const auto options = std::make_shared<ReplayOptions>();
  command->add_option("FILE", options->file, "what `muster serve --record FILE` wrote")->required();
  command->add_flag("--json", options->json, "print the figures as JSON");
  command->footer("Examples:\n  muster replay recording.jsonl");
  command->callback([options, &chosen] { chosen.run = [options] { return replay(*options); }; });
}

}  // namespace muster
