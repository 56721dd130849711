#include "report/timeline.h"

#include <algorithm>
#include <cmath>

#include "base/csv.h"

namespace muster {

void TimelineFold::Bucket::add(const Bucket& other) {
  covered += other.covered;
  held += other.held;
  waiting += other.waiting;
  running += other.running;
  usable += other.usable;
  used += other.used;
  demanded += other.demanded;
  stops += other.stops;
}

TimelineFold::TimelineFold(std::size_t most_buckets)
    : most_(std::max<std::size_t>(most_buckets + most_buckets % 2, 2)) {}

void TimelineFold::widen() {
  for (std::size_t i = 0; 2 * i < buckets_.size(); ++i) {
    Bucket merged = buckets_[2 * i];
    if (2 * i + 1 < buckets_.size()) merged.add(buckets_[2 * i + 1]);
    buckets_[i] = merged;
  }
  buckets_.resize((buckets_.size() + 1) / 2);
  width_ *= 2;
}

TimelineFold::Bucket& TimelineFold::bucket_at(std::size_t place) {
  if (place >= buckets_.size()) buckets_.resize(place + 1);
  return buckets_[place];
}

void TimelineFold::spread(Seconds from, Seconds to, const TurnStats& state) {
  for (auto place = static_cast<std::size_t>((from - origin_) / width_); from < to; ++place) {
    const Seconds end = std::min(to, origin_ + width_ * static_cast<double>(place + 1));
    if (end > from) {
      const double span = end - from;
      bucket_at(place).add({span, span * state.held, span * state.waiting, span * state.running,
                            span * state.usable_gpus, span * state.used_gpus,
                            span * state.demanded_gpus, 0});
      from = end;
    }
  }
}

void TimelineFold::on_turn(const TurnStats& turn) {
  if (!started_) {
    origin_ = std::floor(turn.time);
    started_ = true;
  } else {
    while (turn.time - origin_ >= width_ * static_cast<double>(most_)) widen();
    spread(last_.time, turn.time, last_);
  }
  if (turn.stops > 0) {
    bucket_at(static_cast<std::size_t>((turn.time - origin_) / width_)).stops += turn.stops;
  }
  last_ = turn;
}

Timeline TimelineFold::timeline() const {
  Timeline result;
  result.width = width_;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const Bucket& bucket = buckets_[i];
    const double covered = bucket.covered > 0 ? bucket.covered : 1;
    result.buckets.push_back({origin_ + width_ * static_cast<double>(i), bucket.held / covered,
                              bucket.waiting / covered, bucket.running / covered,
                              bucket.usable / covered, bucket.used / covered,
                              bucket.demanded / covered, bucket.stops});
  }
  return result;
}

std::string_view turns_csv_header() {
  return "time,total_jobs,jobs_in_queue,jobs_running,free_gpus,gpu_demand,preemptions,jobs_held,"
         "skipped_turns,blocking_index,storage_busy,cpu_busy,gpu_busy,network_busy";
}

char* put_turn(char* at, const TurnStats& turn) {
  static_assert(14 * (kNumberRoom + 1) <= kTurnRoom);
  at = put_number(at, turn.time);
  for (const std::int32_t value : {turn.held + turn.waiting + turn.running, turn.waiting,
                                   turn.running, turn.usable_gpus - turn.used_gpus,
                                   turn.demanded_gpus, turn.stops, turn.held, turn.skipped}) {
    *at++ = ',';
    at = put_integer(at, value);
  }
  for (const double value :
       {turn.blocking_index, turn.busy[0], turn.busy[1], turn.busy[2], turn.busy[3]}) {
    *at++ = ',';
    at = put_number(at, value);
  }
  *at++ = '\n';
  return at;
}

}  // namespace muster
