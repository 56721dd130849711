// The environment variables that the command heeds, for the man page and docs/command-line.md.
#pragma once

#include <array>
#include <string_view>

namespace muster {

struct EnvironmentVariable {
  std::string_view name;
  std::string_view meaning;
};

inline constexpr std::array<EnvironmentVariable, 10> kEnvironment = {{
    {"MUSTER_DATA", "folder for fetched public data; by default muster under XDG_DATA_HOME"},
    {"MUSTER_SHARED", "second folder to search for public data; by default ../shared"},
    {"MUSTER_HOME", "folder with presets, experiments and the data catalogue"},
    {"MUSTER_PYTHON", "the Python that runs policies written in Python (FILE.py:NAME)"},
    {"MUSTER_PLUGINS", "policy libraries to load, as with --plugin, separated by colons"},
    {"MUSTER_STATE", "state folder of the daemon, for the daemon and its clients"},
    {"MUSTER_SERVER", "address of a daemon on another machine, as for --server"},
    {"MUSTER_TOKEN", "token for that daemon"},
    {"MUSTER_CA", "CA certificates used to verify it"},
    {"NO_COLOR", "no colours, even on a terminal"},
}};

}  // namespace muster
