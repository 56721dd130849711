// Where tests find files: the source tree, and the folder of public data and golden values that a
// machine may or may not have. A test that needs the latter starts with MUSTER_NEEDS_SHARED, and is
// then skipped, with the missing path named, on a machine without it.
#pragma once

#include <filesystem>
#include <string_view>

#include <gtest/gtest.h>

namespace muster {

// The root of the source tree.
std::filesystem::path source_dir();

// The folder named by MUSTER_SHARED, or `shared` beside the source tree; it need not exist.
std::filesystem::path shared_dir();

// A program of tests/programs, built beside the running test.
std::filesystem::path program_path(std::string_view name);

}  // namespace muster

// Skips the running test unless `relative` exists under shared_dir().
#define MUSTER_NEEDS_SHARED(relative)                                                  \
  if (!std::filesystem::exists(::muster::shared_dir() / (relative)))                   \
  GTEST_SKIP() << "needs " << (::muster::shared_dir() / (relative)).lexically_normal() \
               << ", which is not on this machine (MUSTER_SHARED names the shared folder)"
