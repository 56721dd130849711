#include "perf/training.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

constexpr double between(double low, double high, double part) { return low + (high - low) * part; }

}  // namespace

std::vector<int> same_ring(std::span<const int> placement) {
  std::vector<int> best(placement.begin(), placement.end());
  std::vector<int> turned = best;
  for (std::size_t i = 1; i < turned.size(); ++i) {
    std::rotate(turned.begin(), turned.begin() + 1, turned.end());
    best = std::min(best, turned);
  }
  return best;
}

Training::Training(TrainingMeasurements measured) : measured_(std::move(measured)) {
  const auto sort_points = [](Points& points) {
    std::stable_sort(points.begin(), points.end(),
                     [](const Point& a, const Point& b) { return a.local_batch < b.local_batch; });
  };
  double least = measured_.placements.begin()->second.front().local_batch;
  double most = least;
  // Placements of one size count as one: their mean.
  std::map<std::pair<int, int>, std::map<double, std::pair<StepTime, int>>> sums;
  for (auto& [placement, points] : measured_.placements) {
    sort_points(points);
    least = std::min(least, points.front().local_batch);
    most = std::max(most, points.back().local_batch);
    int gpus = 0;
    for (const int count : placement) gpus += count;
    auto& sum = sums[{static_cast<int>(placement.size()), gpus}];
    for (const Point& point : points) {
      auto& [time, count] = sum[point.local_batch];
      time.step += point.time.step;
      time.exchange += point.time.exchange;
      ++count;
    }
  }
  for (auto& [size, by_local] : sums) {
    Points& points = measured_.by_size[size.first][size.second];
    for (const auto& [local_batch, sum] : by_local) {
      points.push_back(
          {local_batch, {sum.first.step / sum.second, sum.first.exchange / sum.second}});
    }
  }
  for (auto& [nodes, by_gpus] : measured_.by_size) {
    for (auto& [gpus, points] : by_gpus) sort_points(points);
  }
  limits_.initial = measured_.by_batch.begin()->first;
  limits_.most = measured_.by_batch.rbegin()->first;
  limits_.local_least = static_cast<int>(least);
  limits_.local_most = std::min(static_cast<int>(most), measured_.local_most);
  epochs_ = static_cast<int>(measured_.by_batch.begin()->second.size());
  for (const auto& [batch, epochs] : measured_.by_batch) {
    epochs_ = std::min(epochs_, static_cast<int>(epochs.size()));
  }
}

Training::StepTime Training::at(const Points& points, double local_batch) {
  if (local_batch <= points.front().local_batch) return points.front().time;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point& low = points[i - 1];
    const Point& high = points[i];
    if (local_batch > high.local_batch) continue;
    const double part = (local_batch - low.local_batch) / (high.local_batch - low.local_batch);
    return {between(low.time.step, high.time.step, part),
            between(low.time.exchange, high.time.exchange, part)};
  }
  // Beyond the largest: computing goes on as from one sample to the next.
  const Point& last = points.back();
  const double more = last.time.compute() * (local_batch / last.local_batch - 1);
  return {last.time.step + more, last.time.exchange};
}

Training::StepTime Training::on_nodes(int nodes, double gpus, double local_batch) const {
  const auto& by_gpus = measured_.by_size.at(nodes);
  auto high = by_gpus.lower_bound(static_cast<int>(std::ceil(gpus)));
  if (high == by_gpus.end()) return at(by_gpus.rbegin()->second, local_batch);
  if (high == by_gpus.begin() || high->first == gpus) return at(high->second, local_batch);
  const auto low = std::prev(high);
  const double part = (gpus - low->first) / (high->first - low->first);
  const StepTime a = at(low->second, local_batch);
  const StepTime b = at(high->second, local_batch);
  return {between(a.step, b.step, part), between(a.exchange, b.exchange, part)};
}

Training::StepTime Training::step_time(int nodes, int gpus, double local_batch) const {
  // A node with more GPUs than were measured on one counts as several.
  const int largest =
      measured_.by_size.begin()->second.rbegin()->first / measured_.by_size.begin()->first;
  nodes = std::max(nodes, (gpus + largest - 1) / largest);
  const auto high = measured_.by_size.lower_bound(nodes);
  if (high == measured_.by_size.end()) {
    const int most = measured_.by_size.rbegin()->first;
    return on_nodes(most, static_cast<double>(gpus) * most / nodes, local_batch);
  }
  if (high->first == nodes || high == measured_.by_size.begin()) {
    return on_nodes(high->first, gpus, local_batch);
  }
  const int low = std::prev(high)->first;
  const double per_node = static_cast<double>(gpus) / nodes;
  const double part = static_cast<double>(nodes - low) / (high->first - low);
  const StepTime a = on_nodes(low, per_node * low, local_batch);
  const StepTime b = on_nodes(high->first, per_node * high->first, local_batch);
  return {between(a.step, b.step, part), between(a.exchange, b.exchange, part)};
}

Training::StepTime Training::step_time(std::span<const int> placement, double local_batch) const {
  const auto found = measured_.placements.find(same_ring(placement));
  if (found != measured_.placements.end()) return at(found->second, local_batch);
  int gpus = 0;
  for (const int count : placement) gpus += count;
  return step_time(static_cast<int>(placement.size()), gpus, local_batch);
}

double Training::progress_after(int epochs) const {
  if (epochs <= 0) return 0;
  const auto last = static_cast<std::size_t>(std::min(epochs, epochs_) - 1);
  double least = measured_.by_batch.begin()->second[last].progress;
  for (const auto& [batch, rows] : measured_.by_batch) least = std::min(least, rows[last].progress);
  return least;
}

GradientNoise Training::noise(int batch, int epoch) const {
  const auto row = static_cast<std::size_t>(std::clamp(epoch, 0, epochs_ - 1));
  const auto high = measured_.by_batch.lower_bound(batch);
  if (high == measured_.by_batch.end()) return measured_.by_batch.rbegin()->second[row].noise;
  if (high->first == batch || high == measured_.by_batch.begin()) return high->second[row].noise;
  const auto low = std::prev(high);
  const double part = static_cast<double>(batch - low->first) / (high->first - low->first);
  const GradientNoise& a = low->second[row].noise;
  const GradientNoise& b = high->second[row].noise;
  return {between(a.square, b.square, part), between(a.variance, b.variance, part)};
}

double Training::iterations(int batch) const {
  const auto found = measured_.by_batch.find(batch);
  return found == measured_.by_batch.end()
             ? 0
             : found->second[static_cast<std::size_t>(epochs_) - 1].iteration;
}

std::vector<int> Training::batches() const {
  std::vector<int> sizes;
  for (const auto& [batch, epochs] : measured_.by_batch) sizes.push_back(batch);
  return sizes;
}

}  // namespace muster
