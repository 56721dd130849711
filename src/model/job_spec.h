// What a job asked for. Immutable once submitted; readers and generators make these, the engine
// takes them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/rare.h"
#include "base/symbols.h"
#include "model/ids.h"

namespace muster {

// The four things a training step uses, one after the other.
enum class Stage : std::uint8_t { kStorage, kCpu, kGpu, kNetwork };
inline constexpr std::size_t kStages = 4;
using StageTimes = std::array<double, kStages>;  // by Stage

// A soft deadline: finishing by then is still worth something.
struct ValueStep {
  Seconds by = kNever;  // absolute, on the clock of `submit`
  double value = 0;
  friend bool operator==(const ValueStep&, const ValueStep&) = default;
};

// What only a simulation knows of a job whose duration is a belief; negative: nothing. Not for
// policies, nor for the engine: see model/truth.h.
struct TrueLength {
  Seconds duration = -1;
  double iterations = -1;
  double work = -1;  // as Job::total_work
  friend bool operator==(const TrueLength&, const TrueLength&) = default;
};

// A trace is a list of these, and allocating them is the largest cost of reading it; fields that
// few jobs have are kept outside.
struct JobSpec {
  JobId id{};             // set by the engine as jobs arrive; sources need not fill it
  bool believed = false;  // duration and iterations may be wrong, and grow when outrun
  Seconds submit = 0;     // its completion time counts from here
  // When the scheduler learns of it: the submit time, except where a source delivers jobs early or
  // late. A source yields nondecreasing arrivals.
  Seconds arrival = 0;
  // Run time undisturbed, alone, on `gpus` GPUs of the reference type; where `believed`, what is
  // believed of it, as are the iterations (model/belief.h).
  Seconds duration = 0;
  int gpus = 1;      // GPUs asked for
  int min_gpus = 0;  // elastic range; 0 means: exactly `gpus`
  int max_gpus = 0;
  Seconds deadline = kNever;     // absolute, on the clock of `submit`
  double value = 1;              // of meeting the deadline
  std::vector<ValueStep> later;  // what being late is still worth: later and later, less and less
  Seconds estimate = 0;   // what its owner or a model believes the duration to be; 0: unknown
  double cpus = 0;        // for the whole job; 0: the fair share of its GPUs
  double memory_gb = 0;   // for the whole job; 0: the fair share of its GPUs
  double iterations = 0;  // 0: unknown
  double step_ms = 0;     // measured milliseconds of one iteration, alone; 0: unknown
  StageTimes stage_ms{};  // its stages, in milliseconds; they may overlap; all 0: unknown
  int batch_size = 0;     // 0: unknown
  int priority = 0;       // larger is more important
  Symbol model = kNoSymbol;
  Symbol user = kNoSymbol;
  Symbol partition = kNoSymbol;  // virtual cluster; kNoSymbol: any
  Symbol gpu_type = kNoSymbol;   // required type; kNoSymbol: any
  std::string name;              // the trace's own id; empty: the number `id`
  Rare<TrueLength> truth;

  bool elastic() const { return max_gpus > 0 && min_gpus < max_gpus; }
  int least_gpus() const { return elastic() ? min_gpus : gpus; }
  int most_gpus() const { return elastic() ? max_gpus : gpus; }
  // What it is worth to be done at `time`; nothing for a job without deadline.
  double value_at(Seconds time) const {
    if (deadline == kNever) return 0;
    if (time <= deadline) return value;
    for (const ValueStep& step : later) {
      if (time <= step.by) return step.value;
    }
    return 0;
  }
};

// The trace's own id where it has one, else the number.
inline std::string display_name(const JobSpec& job) {
  return job.name.empty() ? std::to_string(index(job.id)) : job.name;
}

}  // namespace muster
