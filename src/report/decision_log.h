// decisions.bin: every decision of a run, a few bytes each. docs/results.md gives the format to the
// byte.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "model/decision.h"
#include "model/gpu_set.h"

namespace muster {

inline constexpr std::string_view kDecisionMagic = "MUSTERDL";
inline constexpr std::uint32_t kDecisionVersion = 1;

class DecisionWriter {
 public:
  static Result<DecisionWriter> create(const std::string& path);
  DecisionWriter(DecisionWriter&&) noexcept;
  DecisionWriter& operator=(DecisionWriter&&) noexcept;
  ~DecisionWriter();

  void write(const Decision& decision);
  // Where the job of the decision just written runs from now on.
  void place(const GpuSet& gpus);
  bool failed() const;
  std::uint64_t count() const;
  // Writes the end mark; a log without one was cut off.
  Status close();

 private:
  struct State;
  explicit DecisionWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class DecisionReader {
 public:
  static Result<DecisionReader> open(const std::string& path);
  DecisionReader(DecisionReader&&) noexcept;
  DecisionReader& operator=(DecisionReader&&) noexcept;
  ~DecisionReader();

  // The next decision, or null at the end or at an error; stable until the next call.
  const Decision* next();
  // Where the job of that decision runs from then on; empty when that was not recorded.
  const GpuSet& placement() const;
  // Why the stream ended early, if it did.
  Status status() const;

 private:
  struct State;
  explicit DecisionReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The log as text, one line per decision: time, action, job, other, gpus, detail, reason,
// placement.
Status decisions_to_csv(const std::string& log_path, const std::string& csv_path);

}  // namespace muster
