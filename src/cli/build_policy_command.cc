// `muster build-policy`: makes a library of a policy in a file of the user's own.
#include <cstring>
#include <filesystem>
#include <memory>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "run/config/policy_plugins.h"

extern char** environ;

namespace muster {
namespace {

struct BuildOptions {
  std::string source;
  std::string library;
  bool print = false;
};

// As a shell would take it.
std::string quoted(const std::string& word) {
  if (word.find_first_of(" '\"\\$&|;<>()*?") == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

int run(const BuildOptions& options) {
  std::string library = options.library;
  if (library.empty()) {
    library = std::filesystem::path(options.source).replace_extension(".so").string();
  }
  auto command = policy_build_command(options.source, library);
  if (!command) return complain(command.error());
  if (options.print) {
    std::vector<std::string> words;
    for (const std::string& word : *command) words.push_back(quoted(word));
    fmt::print("{}\n", fmt::join(words, " "));
    return kExitOk;
  }
  if (!std::filesystem::is_regular_file(options.source)) {
    return complain(Error{fmt::format("{}: there is no such file", options.source)});
  }
  std::vector<char*> words;
  for (std::string& word : *command) words.push_back(word.data());
  words.push_back(nullptr);
  pid_t compiler = 0;
  if (const int failed = posix_spawnp(&compiler, words[0], nullptr, nullptr, words.data(), environ);
      failed != 0) {
    return complain(Error{fmt::format(
        "the compiler '{}' cannot be started: {}; install one (on Debian: apt-get install g++) or "
        "name it in CXX",
        words[0], std::strerror(failed))});
  }
  int status = 0;
  while (waitpid(compiler, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return complain(Error{fmt::format("{} does not compile", options.source)}, kExitFailed);
  }
  fmt::print("wrote {}; use it with --plugin {}\n", library, library);
  return kExitOk;
}

}  // namespace

void add_build_policy_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("build-policy", "Compile a policy of your own for --plugin");
  const auto options = std::make_shared<BuildOptions>();
  command
      ->add_option("FILE", options->source,
                   "C++ file that ends with MUSTER_PLUGIN(ROW), as in docs/policies.md")
      ->required();
  command->add_option("-o,--output", options->library,
                      "library to write; by default FILE with the extension .so");
  command->add_flag("--print", options->print, "print the command of the compiler and stop");
  command->footer(
      "Examples:\n"
      "  muster build-policy my.cc\n"
      "  muster simulate trace.csv -c 16x8 --plugin my.so -s guide-las\n"
      "  muster build-policy my.cc --print\n");
  command->callback([options, &chosen] { chosen.run = [options] { return run(*options); }; });
}

}  // namespace muster
