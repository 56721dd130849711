#include "workload/perf/throughput_tables.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "perf/curve_model.h"

namespace muster {
namespace {

using ByBatch = std::map<int, ThroughputCurve>;

struct Header {
  std::vector<int> gpus;  // by column; the first is the batch size
};

Result<Header> read_header(const std::string& path, std::string_view line) {
  Header header;
  for (const std::string_view cell : split(trim(line), ',')) {
    if (header.gpus.empty()) {
      if (trim(cell) != "global_batch_size") {
        return Error{fmt::format(
            "{}:1: the first column is '{}', expected 'global_batch_size' followed by GPU counts",
            path, trim(cell))};
      }
      header.gpus.push_back(0);
      continue;
    }
    const auto count = parse_integer(trim(cell));
    if (!count || *count <= header.gpus.back() || *count > 1'000'000) {
      return Error{fmt::format(
          "{}:1: found the column '{}', expected GPU counts in ascending order, as 1,2,4,8", path,
          trim(cell))};
    }
    header.gpus.push_back(static_cast<int>(*count));
  }
  if (header.gpus.size() < 2) return Error{fmt::format("{}:1: no column with a GPU count", path)};
  return header;
}

// What one row says; cells that say "not possible" leave a gap.
Result<std::pair<int, ThroughputCurve>> read_row(const std::string& path, int number,
                                                 std::string_view line, const Header& header) {
  const auto cells = split(line, ',');
  if (cells.size() != header.gpus.size()) {
    return Error{fmt::format("{}:{}: {} cells where the header has {}", path, number, cells.size(),
                             header.gpus.size())};
  }
  const auto batch = parse_integer(trim(cells[0]));
  if (!batch || *batch < 1 || *batch > 1'000'000'000) {
    return Error{fmt::format("{}:{}: found the batch size '{}', expected a positive whole number",
                             path, number, trim(cells[0]))};
  }
  ThroughputCurve curve;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const std::string_view text = trim(cells[i]);
    if (text != "nan") curve.widest = header.gpus[i];
    if (text.empty() || text == "nan") continue;
    const auto speed = parse_real(text);
    if (!speed || !std::isfinite(*speed) || *speed < 0) {
      return Error{
          fmt::format("{}:{}: column '{}': found '{}', expected iterations per second, or nothing "
                      "where that is "
                      "not possible",
                      path, number, header.gpus[i], text)};
    }
    if (*speed > 0) curve.points.push_back({header.gpus[i], *speed});
  }
  if (curve.points.empty()) {
    return Error{fmt::format("{}:{}: no GPU count is possible for this batch size", path, number)};
  }
  return std::pair{static_cast<int>(*batch), std::move(curve)};
}

Result<ByBatch> read_table(const std::string& path, std::string_view model, CurveCap cap) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    return Error{fmt::format("{}: cannot be read, or is empty; a header was expected", path)};
  }
  const auto header = read_header(path, line);
  if (!header) return header.error();
  ByBatch rows;
  for (int number = 2; std::getline(file, line); ++number) {
    if (trim(line).empty()) continue;
    auto row = read_row(path, number, line, *header);
    if (!row) return row.error();
    row->second.cap = cap(model, row->first, row->second);
    if (!rows.insert(std::move(*row)).second) {
      return Error{fmt::format("{}:{}: this batch size has a row already", path, number)};
    }
  }
  if (rows.empty()) return Error{fmt::format("{}: no rows under the header", path)};
  return rows;
}

}  // namespace

int cap_at_peak(std::string_view /*model*/, int /*batch*/, const ThroughputCurve& curve) {
  const auto best =
      std::max_element(curve.points.begin(), curve.points.end(),
                       [](const auto& a, const auto& b) { return a.per_second < b.per_second; });
  return best->gpus;
}

int cap_at_widest(std::string_view /*model*/, int /*batch*/, const ThroughputCurve& curve) {
  return curve.points.back().gpus;
}

Result<std::unique_ptr<PerfModel>> load_throughput_tables(const std::string& folder, CurveCap cap,
                                                          Symbols& symbols) {
  namespace fs = std::filesystem;
  std::error_code error;
  MeasuredCurves measured{folder, {}};
  if (folder.empty()) return make_curve_model(std::move(measured));
  std::vector<std::string> models;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".csv") models.push_back(it->path().stem().string());
  }
  if (error) {
    return Error{fmt::format(
        "performance model 'throughput-tables': {}: {}; name the folder that holds one <model>.csv "
        "per model",
        folder, error.message())};
  }
  if (models.empty()) {
    return Error{
        fmt::format("performance model 'throughput-tables': no <model>.csv file in {}", folder)};
  }
  std::sort(models.begin(), models.end());
  for (const std::string& model : models) {
    auto table = read_table((fs::path(folder) / (model + ".csv")).string(), model, cap);
    if (!table) return table.error();
    measured.models[symbols.intern(model)] = {model, std::move(*table)};
  }
  return make_curve_model(std::move(measured));
}

}  // namespace muster
