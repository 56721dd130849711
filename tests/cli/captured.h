// A command as people type it, for tests: what it said, and its exit status.
#pragma once

#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include "cli/commands.h"

namespace muster {

// As in add_data_command.
using AddCommand = void (*)(CLI::App&, Chosen&);

struct Captured {
  int status = -1;
  std::string out;
  std::string err;
};

inline int run_line(AddCommand add, const std::string& line) {
  CLI::App app;
  Chosen chosen;
  add(app, chosen);
  app.parse(line);
  return chosen.run();
}

inline Captured captured(AddCommand add, const std::string& line) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Captured ran;
  ran.status = run_line(add, line);
  std::fflush(stdout);
  ran.out = testing::internal::GetCapturedStdout();
  ran.err = testing::internal::GetCapturedStderr();
  return ran;
}

}  // namespace muster
