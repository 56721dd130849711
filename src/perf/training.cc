#include "perf/training.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

using Row = std::vector<double>;

// Reads the named columns of a CSV file, all of them numbers that satisfy `sound`.
Status read_columns(const std::string& path, std::span<const std::string_view> columns,
                    const std::function<Status(const Row&, const std::string& where)>& take) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    return Error{fmt::format("{}: cannot be read, or is empty; expected a header {}", path,
                             fmt::join(columns, ","))};
  }
  std::vector<std::size_t> places;
  const auto header = split(trim(line), ',');
  for (const std::string_view column : columns) {
    const auto found = std::find_if(header.begin(), header.end(),
                                    [&](std::string_view cell) { return trim(cell) == column; });
    if (found == header.end()) {
      return Error{fmt::format("{}:1: no column '{}'; found {}, expected {}", path, column,
                               trim(line), fmt::join(columns, ","))};
    }
    places.push_back(static_cast<std::size_t>(found - header.begin()));
  }
  for (int number = 2; std::getline(file, line); ++number) {
    if (trim(line).empty()) continue;
    const auto cells = split(trim(line), ',');
    const std::string where = fmt::format("{}:{}", path, number);
    if (cells.size() != header.size()) {
      return Error{
          fmt::format("{}: {} cells where the header has {}", where, cells.size(), header.size())};
    }
    Row row;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto value = parse_real(trim(cells[places[i]]));
      if (!value || !std::isfinite(*value) || *value < 0) {
        return Error{fmt::format("{}: column '{}': found '{}', expected a number, not negative",
                                 where, columns[i], trim(cells[places[i]]))};
      }
      row.push_back(*value);
    }
    if (Status taken = take(row, where); !taken) return taken;
  }
  return Done{};
}

Status check_times(const std::string& where, double local_batch, double step, double exchange) {
  if (local_batch >= 1 && step > exchange) return Done{};
  return Error{fmt::format(
      "{}: local_bsz {}, step_time {}, sync_time {}: expected at least one sample, and a step that "
      "takes longer than its exchange",
      where, local_batch, step, exchange)};
}

std::vector<int> smallest_rotation(std::span<const int> placement) {
  std::vector<int> best(placement.begin(), placement.end());
  std::vector<int> turned = best;
  for (std::size_t i = 1; i < turned.size(); ++i) {
    std::rotate(turned.begin(), turned.begin() + 1, turned.end());
    best = std::min(best, turned);
  }
  return best;
}

constexpr double between(double low, double high, double part) { return low + (high - low) * part; }

// Pollux trains these with other limits than the files suggest.
constexpr int kYoloLocalMost = 8;

}  // namespace

Status Training::read_placements(const std::string& path) {
  constexpr std::string_view kColumns[] = {"placement", "local_bsz", "step_time", "sync_time"};
  return read_columns(path, kColumns, [this](const Row& row, const std::string& where) -> Status {
    if (Status sound = check_times(where, row[1], row[2], row[3]); !sound) return sound;
    std::vector<int> placement;
    for (const char digit : fmt::format("{:.0f}", row[0])) placement.push_back(digit - '0');
    if (placement.empty() || *std::min_element(placement.begin(), placement.end()) < 1) {
      return Error{
          fmt::format("{}: column 'placement': found '{}', expected a digit from 1 to 9 per node",
                      where, row[0])};
    }
    placements_[smallest_rotation(placement)].push_back({row[1], {row[2], row[3]}});
    return Done{};
  });
}

Status Training::read_scalability(const std::string& path) {
  constexpr std::string_view kColumns[] = {"num_nodes", "num_replicas", "local_bsz", "step_time",
                                           "sync_time"};
  return read_columns(path, kColumns, [this](const Row& row, const std::string& where) -> Status {
    if (Status sound = check_times(where, row[2], row[3], row[4]); !sound) return sound;
    if (row[0] < 1 || row[1] < row[0] || row[1] > 1e6) {
      return Error{fmt::format("{}: {} GPUs on {} nodes: expected at least one on each", where,
                               row[1], row[0])};
    }
    by_size_[static_cast<int>(row[0])][static_cast<int>(row[1])].push_back(
        {row[2], {row[3], row[4]}});
    return Done{};
  });
}

Status Training::read_epochs(const std::string& folder) {
  constexpr std::string_view kColumns[] = {"progress", "iteration", "grad_sqr", "grad_var"};
  constexpr std::string_view kPrefix = "validation-";
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string stem = it->path().stem().string();
    if (it->path().extension() != ".csv" || !stem.starts_with(kPrefix)) continue;
    const auto batch = parse_integer(std::string_view(stem).substr(kPrefix.size()));
    if (!batch || *batch < 1 || *batch > 1'000'000'000) {
      return Error{fmt::format("{}: expected validation-<batch size>.csv", it->path().string())};
    }
    auto& epochs = by_batch_[static_cast<int>(*batch)];
    Status read = read_columns(
        it->path().string(), kColumns,
        [&epochs](const Row& row, const std::string& where) -> Status {
          if (!epochs.empty() && row[0] <= epochs.back().progress) {
            return Error{fmt::format("{}: column 'progress': {} after {}; expected it to grow",
                                     where, row[0], epochs.back().progress)};
          }
          epochs.push_back({row[0], row[1], {row[2], row[3]}});
          return Done{};
        });
    if (!read) return read;
    if (epochs.empty()) {
      return Error{fmt::format("{}: no rows under the header", it->path().string())};
    }
  }
  if (by_batch_.empty()) return Error{fmt::format("{}: no validation-<batch size>.csv", folder)};
  return Done{};
}

Result<Training> Training::read(const std::string& folder, const std::string& name) {
  Training training;
  training.name_ = name;
  const std::filesystem::path path(folder);
  if (Status s = training.read_placements((path / "placements.csv").string()); !s) return s.error();
  if (Status s = training.read_scalability((path / "scalability.csv").string()); !s) {
    return s.error();
  }
  if (Status s = training.read_epochs(folder); !s) return s.error();
  if (training.placements_.count({1}) == 0) {
    return Error{fmt::format("{}/placements.csv: no row of a single GPU (placement 1)", folder)};
  }
  training.finish();
  return training;
}

void Training::finish() {
  const auto sort_points = [](Points& points) {
    std::stable_sort(points.begin(), points.end(),
                     [](const Point& a, const Point& b) { return a.local_batch < b.local_batch; });
  };
  double least = placements_.begin()->second.front().local_batch;
  double most = least;
  // Placements of one size count as one: their mean.
  std::map<std::pair<int, int>, std::map<double, std::pair<StepTime, int>>> sums;
  for (auto& [placement, points] : placements_) {
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
    Points& points = by_size_[size.first][size.second];
    for (const auto& [local_batch, sum] : by_local) {
      points.push_back(
          {local_batch, {sum.first.step / sum.second, sum.first.exchange / sum.second}});
    }
  }
  for (auto& [nodes, by_gpus] : by_size_) {
    for (auto& [gpus, points] : by_gpus) sort_points(points);
  }
  limits_.initial = by_batch_.begin()->first;
  limits_.most = by_batch_.rbegin()->first;
  limits_.local_least = static_cast<int>(least);
  limits_.local_most = static_cast<int>(most);
  if (name_ == "yolov3") limits_.local_most = std::min(limits_.local_most, kYoloLocalMost);
  epochs_ = static_cast<int>(by_batch_.begin()->second.size());
  for (const auto& [batch, epochs] : by_batch_) {
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
  const auto& by_gpus = by_size_.at(nodes);
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
  const int largest = by_size_.begin()->second.rbegin()->first / by_size_.begin()->first;
  nodes = std::max(nodes, (gpus + largest - 1) / largest);
  const auto high = by_size_.lower_bound(nodes);
  if (high == by_size_.end()) {
    const int most = by_size_.rbegin()->first;
    return on_nodes(most, static_cast<double>(gpus) * most / nodes, local_batch);
  }
  if (high->first == nodes || high == by_size_.begin()) {
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
  const auto found = placements_.find(smallest_rotation(placement));
  if (found != placements_.end()) return at(found->second, local_batch);
  int gpus = 0;
  for (const int count : placement) gpus += count;
  return step_time(static_cast<int>(placement.size()), gpus, local_batch);
}

double Training::progress_after(int epochs) const {
  if (epochs <= 0) return 0;
  const auto last = static_cast<std::size_t>(std::min(epochs, epochs_) - 1);
  double least = by_batch_.begin()->second[last].progress;
  for (const auto& [batch, rows] : by_batch_) least = std::min(least, rows[last].progress);
  return least;
}

GradientNoise Training::noise(int batch, int epoch) const {
  const auto row = static_cast<std::size_t>(std::clamp(epoch, 0, epochs_ - 1));
  const auto high = by_batch_.lower_bound(batch);
  if (high == by_batch_.end()) return by_batch_.rbegin()->second[row].noise;
  if (high->first == batch || high == by_batch_.begin()) return high->second[row].noise;
  const auto low = std::prev(high);
  const double part = static_cast<double>(batch - low->first) / (high->first - low->first);
  const GradientNoise& a = low->second[row].noise;
  const GradientNoise& b = high->second[row].noise;
  return {between(a.square, b.square, part), between(a.variance, b.variance, part)};
}

double Training::iterations(int batch) const {
  const auto found = by_batch_.find(batch);
  return found == by_batch_.end() ? 0
                                  : found->second[static_cast<std::size_t>(epochs_) - 1].iteration;
}

std::vector<int> Training::batches() const {
  std::vector<int> sizes;
  for (const auto& [batch, epochs] : by_batch_) sizes.push_back(batch);
  return sizes;
}

}  // namespace muster
