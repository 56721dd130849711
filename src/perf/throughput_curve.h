// How fast one job trains on 1, 2, 4 ... GPUs, as measured: what elastic policies plan with.
#pragma once

#include <vector>

namespace muster {

struct ThroughputCurve {
  struct Point {
    int gpus = 0;
    double per_second = 0;  // iterations
  };
  std::vector<Point> points;  // ascending GPU counts, positive speeds; at least one
  int cap = 0;                // beyond so many GPUs the job should not be stretched
  int widest = 0;             // the largest count of the table, measured or not

  // At the largest measured count that is not above `gpus`: further GPUs would idle.
  double at(int gpus) const {
    double speed = points.front().per_second;
    for (const Point& point : points) {
      if (point.gpus > gpus) break;
      speed = point.per_second;
    }
    return speed;
  }
};

}  // namespace muster
