// The state of the cluster over time, in a bounded number of equal buckets.
//
// Each bucket holds averages weighted by time, and the number of preemptions. When the run outgrows
// the buckets, neighbours are merged and the width doubles, so the result depends on the run alone.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "model/record.h"

namespace muster {

struct TimelineBucket {
  Seconds start = 0;
  double held = 0;
  double waiting = 0;
  double running = 0;
  double usable_gpus = 0;
  double used_gpus = 0;
  double demanded_gpus = 0;
  double stops = 0;  // a count, not an average
};

struct Timeline {
  Seconds width = 0;
  std::vector<TimelineBucket> buckets;
};

class TimelineFold final : public Observer {
 public:
  static constexpr std::size_t kBuckets = 2000;

  explicit TimelineFold(std::size_t most_buckets = kBuckets);

  void on_turn(const TurnStats& turn) override;
  Timeline timeline() const;

 private:
  // Integrals over the covered part of the bucket.
  struct Bucket {
    double covered = 0;  // seconds
    double held = 0;
    double waiting = 0;
    double running = 0;
    double usable = 0;
    double used = 0;
    double demanded = 0;
    double stops = 0;

    void add(const Bucket& other);
  };

  void widen();
  void spread(Seconds from, Seconds to, const TurnStats& state);
  Bucket& bucket_at(std::size_t place);

  std::size_t most_;
  std::vector<Bucket> buckets_;
  Seconds origin_ = 0;
  Seconds width_ = 1;
  TurnStats last_;
  bool started_ = false;
};

// One line of turns.csv: the state after one turn, in the columns that Blox calls cluster_stats,
// and what Muri logs over time: how long waiting jobs have waited, and how busy each resource is.
std::string_view turns_csv_header();
inline constexpr std::size_t kTurnRoom = 500;
char* put_turn(char* at,
               const TurnStats& turn);  // needs kTurnRoom bytes; returns where the line ends

}  // namespace muster
