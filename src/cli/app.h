// The whole command, from its arguments to its exit status.
#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace muster {

struct Chosen;

// The parser with all subcommands; man page, completions and tests walk through it.
std::unique_ptr<CLI::App> make_app(Chosen& chosen);

int run_command(int argc, char** argv);

}  // namespace muster
