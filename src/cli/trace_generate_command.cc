// `muster trace generate`: draws a workload and writes it as a trace.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/show.h"
#include "report/progress.h"
#include "workload/generate/generators.h"
#include "workload/trace_writer.h"

namespace muster {
namespace {

struct GenerateOptions {
  std::string name;
  std::vector<std::string> params;
  std::string output = "-";
  std::string format = "muster";
  bool describe = false;
  bool quiet = false;
};

Result<ParamTexts> params_of(const std::vector<std::string>& settings) {
  ParamTexts texts;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{fmt::format("--param {}: expected NAME=VALUE", setting)};
    }
    texts[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return texts;
}

int list_generators() {
  for (const Generator& generator : generators()) {
    show("{:<18} {}\n", generator.name, generator.sentence);
    if (!generator.origin.empty()) show("{:<18}   from {}\n", "", generator.origin);
  }
  show("\n`muster trace generate NAME --describe` lists the parameters of one.\n");
  return kExitOk;
}

int describe_generator(const Generator& generator) {
  show("{}: {}\n", generator.name, generator.sentence);
  for (const ParamInfo& info : generator.params()) {
    show("  {:<16} {:<10} {}\n", info.name, info.initial.empty() ? "\"\"" : info.initial,
         info.sentence);
    if (info.choices.empty()) continue;
    std::string choices;
    for (const std::string_view choice : info.choices) choices += fmt::format(" {}", choice);
    show("  {:<16} {:<10} one of:{}\n", "", "", choices);
  }
  return kExitOk;
}

// Writes all jobs; the writer leaves no file behind unless it is finished.
int write_trace(const GenerateOptions& options, JobSource& source, std::uint64_t expected,
                const Symbols& symbols) {
  Result<std::unique_ptr<TraceWriter>> writer =
      create_trace(options.output, options.format, symbols);
  if (!writer) return complain(writer.error());
  Progress progress({.title = "generate", .unit = "jobs", .quiet = options.quiet});
  ProgressTask& task = progress.task(options.name, expected);
  constexpr std::uint64_t kLookEvery = 4096;
  for (const JobSpec* job = source.peek(); job != nullptr; job = source.peek()) {
    if (const Status written = (*writer)->write(*job); !written)
      return complain(written.error(), kExitFailed);
    source.pop();
    if ((*writer)->jobs() % kLookEvery != 0) continue;
    task.set((*writer)->jobs());
    if (interrupted()) return kExitInterrupted;
  }
  if (source.error()) return complain(*source.error());
  if (const Status finished = (*writer)->finish(); !finished)
    return complain(finished.error(), kExitFailed);
  progress.stop();
  for (const Loss& loss : (*writer)->losses()) {
    note(fmt::format("{} jobs: the format {} does not carry {}", loss.jobs, options.format,
                     loss.what));
  }
  if (options.output != "-" && !options.quiet) {
    fmt::print(stderr, "wrote {} jobs to {}\n", (*writer)->jobs(), options.output);
  }
  return kExitOk;
}

int generate(const GenerateOptions& options) {
  if (options.name.empty()) return list_generators();
  const Result<const Generator*> generator = find_generator(options.name);
  if (!generator) return complain(generator.error());
  if (options.describe) return describe_generator(**generator);
  const Result<ParamTexts> texts = params_of(options.params);
  if (!texts) return complain(texts.error());
  const std::string owner = fmt::format("generator '{}'", options.name);
  const Result<Params> params = Params::make(owner, (*generator)->params(), *texts);
  if (!params) return complain(params.error());
  const auto jobs = static_cast<std::uint64_t>(params->integer("jobs"));
  if (jobs == 0)
    return complain(Error{owner + ": jobs=0 never ends, but a trace file must; give jobs=N"});
  watch_interrupts();
  Symbols symbols;
  Result<Generated> generated = (*generator)->make(*params, symbols);
  if (!generated) return complain(Error{fmt::format("{}: {}", owner, generated.error().message)});
  if (!generated->notes.empty() && !options.quiet) fmt::print(stderr, "{}", generated->notes);
  return write_trace(options, *generated->source, jobs, symbols);
}

}  // namespace

void add_trace_generate(CLI::App& trace, Chosen& chosen) {
  CLI::App* command = trace.add_subcommand("generate", "Draw a workload and write it as a trace");
  const auto options = std::make_shared<GenerateOptions>();
  command->add_option("NAME", options->name, "the generator; without it, all are listed");
  command->add_option("-p,--param", options->params, "a parameter, NAME=VALUE; may be repeated");
  command
      ->add_option("-o,--output", options->output,
                   "file to write (compressed if it ends in .gz or .zst), or - for standard output")
      ->capture_default_str();
  command->add_option("--format", options->format, "format of the trace")->capture_default_str();
  command->add_flag("--describe", options->describe, "list the parameters of NAME and stop");
  command->add_flag("-q,--quiet", options->quiet, "show no progress and no fit table");
  command->footer(
      "Examples:\n"
      "  muster trace generate poisson -p load=0.8 -p cluster_gpus=128 -p jobs=5000 -o jobs.csv\n"
      "  muster trace generate fit -p trace=philly.csv -p jobs=20000 -p seed=3 -o twin.csv\n"
      "  muster trace generate blox-simple -p load=7 -o blox.csv");
  command->callback([options, &chosen] { chosen.run = [options] { return generate(*options); }; });
}

}  // namespace muster
