// How long work will still take, judged by what it has done so far.
//
// A comparison takes as long as its slowest run, not as long as its runs on average, and a run that
// fills its queue slows down. So every run is judged by the newer half of its own past, and the
// answer never climbs: where work takes longer than was promised, it says "over" that time.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace muster {

class TimeLeft {
 public:
  struct Run {
    std::uint64_t done = 0;
    std::uint64_t total = 0;  // 0: unknown
    bool finished = false;
  };
  struct Answer {
    double seconds = 0;
    bool over = false;  // it takes longer than that
  };

  // At `now` seconds. Runs keep their positions from call to call; `expected` counts those that
  // have not begun as well. Nothing while it cannot tell.
  std::optional<Answer> at(double now, std::span<const Run> runs, std::size_t expected);

 private:
  // A run's past: its speed is taken from `older` on, which moves up as the run gets longer.
  struct Past {
    struct Point {
      double at = 0;
      double done = 0;
    };
    Point begun, older, newer;
    double took = 0;  // when finished
  };

  // Of one run; a run that has only begun is taken to be as long as `usual`.
  std::optional<double> left_of(const Run& run, Past& past, double now, double usual) const;
  std::optional<double> judged(double now, std::span<const Run> runs, std::size_t expected);

  std::vector<Past> pasts_;
  double promised_ = std::numeric_limits<double>::infinity();
};

}  // namespace muster
