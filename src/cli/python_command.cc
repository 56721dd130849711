#include "cli/python_command.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "run/config/policy_loader.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

// Where a Python with the package may be, most likely first.
std::vector<std::string> candidates() {
  std::vector<std::string> found;
  const auto add_if_there = [&](const fs::path& path) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) found.push_back(path.lexically_normal().string());
  };
  // The one that was named, and no other.
  if (const char* named = std::getenv("MUSTER_PYTHON"); named != nullptr && *named != '\0') {
    return {named};
  }
  if (const char* active = std::getenv("VIRTUAL_ENV"); active != nullptr) {
    add_if_there(fs::path(active) / "bin" / "python");
  }
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  add_if_there(folder / ".." / "venv" / "bin" / "python");  // make python, beside build/release
  add_if_there(folder / "python3");                         // installed into the same prefix
  found.emplace_back("python3");
  return found;
}

bool has_package(const std::string& python) {
  const pid_t child = fork();
  if (child == 0) {
    execlp(python.c_str(), python.c_str(), "-c",
           "import importlib.util as u, sys; sys.exit(u.find_spec('muster') is None)", nullptr);
    _exit(127);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

// The policy on the command line that is written in Python; empty: there is none. What comes after
// "--" is the command line of another program.
std::string python_policy(int argc, char** argv) {
  std::string policy;
  bool command_seen = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word == "--") break;
    if (!command_seen && !word.starts_with('-')) {
      command_seen = true;
      if (word == "serve") return {};
    }
    if (word.find(".py:") != std::string_view::npos) policy = word;
  }
  return policy;
}

}  // namespace

Result<std::string> find_python() {
  const std::vector<std::string> pythons = candidates();
  for (const std::string& python : pythons) {
    if (has_package(python)) return python;
  }
  return Error{fmt::format(
      "no Python with the package muster was found (tried {}): run `make python`, or set "
      "MUSTER_PYTHON to one that has it",
      fmt::join(pythons, ", "))};
}

std::optional<int> hand_to_python(int argc, char** argv) {
  const std::string policy = python_policy(argc, argv);
  if (policy.empty() || usual_policy_loader() != nullptr) return std::nullopt;
  Result<std::string> python = find_python();
  if (!python) {
    return complain(Error{
        fmt::format("'{}' is a policy written in Python, and {}", policy, python.error().message)});
  }
  std::vector<char*> words;
  std::string option = "-m";
  std::string package = "muster";
  for (std::string* word : {&*python, &option, &package}) words.push_back(word->data());
  words.insert(words.end(), argv + 1, argv + argc);
  words.push_back(nullptr);
  execvp(python->c_str(), words.data());
  return complain(Error{fmt::format("cannot start {}", *python)});
}

}  // namespace muster
