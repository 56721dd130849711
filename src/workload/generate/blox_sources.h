// Blox's three job sources (Agarwal et al., EuroSys 2024), job by job: the same random stream, the
// same arrival times, durations and order as the published simulator, its mistakes included.
//
// All three are endless. A source is asked once per round for the jobs of that turn: `arrival` is
// the turn (a multiple of the round length) and `submit` the arrival time in Blox's sense, from
// which it counts completion times. `submit` is usually just before the turn, but lies in the
// future for the bursts of small/large and in the past for most of dual load.
//
// Not reproduced: Blox keeps its jobs as shared objects of a list of N and would repeat the values
// of the later one if a single turn handed out more than N jobs.
#pragma once

#include <memory>
#include <vector>

#include "base/symbols.h"
#include "workload/generate/blox_log.h"
#include "workload/source.h"

namespace muster {

enum class BloxDurations {
  kDrawn,  // "exponential", Blox's default: 60·10^U(1.5,3) s, or 60·10^U(3,4) s for one in five
  kDrawnShort,  // "small_trace": 60·10^U(1.5,2.5) s, or 60·10^U(2.5,2.7) s for one in five
  kFromLog,     // what the log says
};

struct BloxOptions {
  double jobs_per_hour = 5;
  std::int64_t seed = 1;
  Seconds round = 300;
  BloxDurations durations = BloxDurations::kDrawn;
  // Blox draws all durations first and keeps the list in a file. A cached run reads that file, so
  // its arrivals start at the first draw; a fresh one has used up two draws per job of the list.
  bool cached = true;
  // The accepted jobs; job k takes entry k mod N. Drawn durations replace those given here.
  std::vector<BloxLogJob> list;
};

// A list of `count` one-GPU jobs, for when there is no log: with drawn durations it makes no
// difference.
std::vector<BloxLogJob> blox_plain_list(std::size_t count);

// `simulator_simple.py` and `simulator.py`: one Poisson stream.
std::unique_ptr<JobSource> make_blox_simple(BloxOptions options, Symbols& symbols);
// `simulator_dual_load.py`: durations of 10 to 24 h, and in windows of each day a second stream of
// short jobs at four times the load, which as written replaces held jobs of the first and turns its
// clock back.
std::unique_ptr<JobSource> make_blox_dual_load(BloxOptions options, Symbols& symbols);
// `simulator_dual_load_small_large.py`: durations of 10 to 24 h, and every four hours 4·load short
// ones.
std::unique_ptr<JobSource> make_blox_small_large(BloxOptions options, Symbols& symbols);

}  // namespace muster
