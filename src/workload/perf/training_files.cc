#include "workload/perf/training_files.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

// Pollux trains it with fewer samples on a GPU than the files suggest.
constexpr std::string_view kYolo = "yolov3";
constexpr int kYoloLocalMost = 8;

Status read_placements(const std::string& path, TrainingMeasurements& measured) {
  constexpr std::string_view kColumns[] = {"placement", "local_bsz", "step_time", "sync_time"};
  return read_columns(
      path, kColumns, [&measured](const Row& row, const std::string& where) -> Status {
        if (Status sound = check_times(where, row[1], row[2], row[3]); !sound) return sound;
        std::vector<int> placement;
        for (const char digit : fmt::format("{:.0f}", row[0])) placement.push_back(digit - '0');
        if (placement.empty() || *std::min_element(placement.begin(), placement.end()) < 1) {
          return Error{fmt::format(
              "{}: column 'placement': found '{}', expected a digit from 1 to 9 per node", where,
              row[0])};
        }
        measured.placements[same_ring(placement)].push_back({row[1], {row[2], row[3]}});
        return Done{};
      });
}

Status read_scalability(const std::string& path, TrainingMeasurements& measured) {
  constexpr std::string_view kColumns[] = {"num_nodes", "num_replicas", "local_bsz", "step_time",
                                           "sync_time"};
  return read_columns(
      path, kColumns, [&measured](const Row& row, const std::string& where) -> Status {
        if (Status sound = check_times(where, row[2], row[3], row[4]); !sound) return sound;
        if (row[0] < 1 || row[1] < row[0] || row[1] > 1e6) {
          return Error{fmt::format("{}: {} GPUs on {} nodes: expected at least one on each", where,
                                   row[1], row[0])};
        }
        measured.by_size[static_cast<int>(row[0])][static_cast<int>(row[1])].push_back(
            {row[2], {row[3], row[4]}});
        return Done{};
      });
}

Status read_epochs(const std::string& folder, TrainingMeasurements& measured) {
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
    auto& epochs = measured.by_batch[static_cast<int>(*batch)];
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
  if (measured.by_batch.empty())
    return Error{fmt::format("{}: no validation-<batch size>.csv", folder)};
  return Done{};
}

}  // namespace

Result<Training> read_training(const std::string& folder, const std::string& name) {
  TrainingMeasurements measured;
  measured.name = name;
  const std::filesystem::path path(folder);
  if (Status s = read_placements((path / "placements.csv").string(), measured); !s) {
    return s.error();
  }
  if (Status s = read_scalability((path / "scalability.csv").string(), measured); !s) {
    return s.error();
  }
  if (Status s = read_epochs(folder, measured); !s) return s.error();
  if (measured.placements.count({1}) == 0) {
    return Error{fmt::format("{}/placements.csv: no row of a single GPU (placement 1)", folder)};
  }
  if (name == kYolo) measured.local_most = kYoloLocalMost;
  return Training(std::move(measured));
}

Result<std::unique_ptr<PerfModel>> load_goodput_model(const std::string& folder, bool adapted,
                                                      Symbols& symbols) {
  namespace fs = std::filesystem;
  std::map<Symbol, Training> trainings;
  std::vector<std::string> names;
  if (!folder.empty()) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (it->is_directory(error)) names.push_back(it->path().filename().string());
    }
    if (error) {
      return Error{fmt::format(
          "performance model 'goodput': {}: {}; name the folder that holds one folder of "
          "measurements per application",
          folder, error.message())};
    }
    if (names.empty()) {
      return Error{
          fmt::format("performance model 'goodput': no folder of an application in {}", folder)};
    }
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    auto training = read_training((fs::path(folder) / name).string(), name);
    if (!training) return training.error();
    trainings.emplace(symbols.intern(name), std::move(*training));
  }
  return make_goodput_model(std::move(trainings), adapted, folder);
}

}  // namespace muster
