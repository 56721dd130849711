// One small file per trace format, for tests of what each becomes.
#pragma once

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "workload/trace_reader.h"

namespace muster {

class FormatsTest : public ::testing::Test {
 protected:
  Trace load(const std::string& content, const std::string& format,
             const TraceOptions& options = {}) {
    auto trace = load_trace(folder_.write("trace", content), options, symbols_);
    if (!trace) {
      ADD_FAILURE() << trace.error().message;
      return {};
    }
    EXPECT_EQ(trace->stats.format, format);
    return std::move(*trace);
  }
  std::string load_error(const std::string& content, const TraceOptions& options = {}) {
    const auto trace = load_trace(folder_.write("trace", content), options, symbols_);
    return trace ? "it was read" : trace.error().message;
  }
  std::string text(Symbol symbol) const { return symbols_.text(symbol); }

  TemporaryFolder folder_;
  Symbols symbols_;
};

}  // namespace muster
