#include "run/golden.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/csv.h"
#include "report/out_file.h"
#include "workload/data/data_folder.h"

namespace muster {
namespace {

Result<std::vector<GoldenJob>> from_json(const std::string& text, const std::string& path) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object()) {
    return Error{fmt::format("{}: expected an object of job numbers with [submit, end]", path)};
  }
  std::vector<GoldenJob> jobs;
  for (const auto& [key, value] : document.items()) {
    const auto id = parse_integer(key);
    const bool pair =
        value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number();
    if (!id || !pair)
      return Error{fmt::format("{}: '{}' is not a job with [submit, end]", path, key)};
    jobs.push_back({*id, value[0].get<double>(), value[1].get<double>()});
  }
  return jobs;
}

Result<std::vector<GoldenJob>> from_csv(
    std::string_view text, const std::string& path,
    const std::map<std::string, std::string, std::less<>>& where) {
  std::vector<std::string> header;
  std::vector<std::string> fields;
  if (!next_csv_record(text, header)) return Error{fmt::format("{} is empty", path)};
  const auto column = [&](std::string_view name) -> Result<std::size_t> {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end()) return Error{fmt::format("{} has no column {}", path, name)};
    return static_cast<std::size_t>(found - header.begin());
  };
  std::vector<std::pair<std::size_t, std::string>> wanted;
  for (const auto& [name, value] : where) {
    const auto at = column(name);
    if (!at) return at.error();
    wanted.emplace_back(*at, value);
  }
  const auto id_at = column("job_id");
  if (!id_at) return id_at.error();
  const auto submit_at = column("submit_s");
  if (!submit_at) return submit_at.error();
  const auto end_at = column("end_s");
  if (!end_at) return end_at.error();

  std::vector<GoldenJob> jobs;
  for (std::size_t line = 2; next_csv_record(text, fields); ++line) {
    if (fields.size() != header.size()) {
      return Error{fmt::format("{}, line {}: found {} fields, expected {}", path, line,
                               fields.size(), header.size())};
    }
    const bool counts = std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) {
      return fields[one.first] == one.second;
    });
    if (!counts) continue;
    const auto id = parse_integer(fields[*id_at]);
    const auto submit = parse_real(fields[*submit_at]);
    const auto end = parse_real(fields[*end_at]);
    if (!id || !submit || !end) return Error{fmt::format("{}, line {}: not numbers", path, line)};
    jobs.push_back({*id, *submit, *end});
  }
  return jobs;
}

}  // namespace

Result<std::vector<GoldenJob>> read_golden(
    const std::string& path, const std::map<std::string, std::string, std::less<>>& where) {
  const auto text = read_file(path);
  if (!text) return text.error();
  auto jobs = path.ends_with(".json") ? from_json(*text, path) : from_csv(*text, path, where);
  if (!jobs) return jobs;
  if (jobs->empty()) return Error{fmt::format("{} holds none of the jobs asked for", path)};
  std::sort(jobs->begin(), jobs->end(),
            [](const GoldenJob& a, const GoldenJob& b) { return a.id < b.id; });
  return jobs;
}

Result<std::string> find_reference_file(const std::string& relative) {
  const DataPlaces places = data_places();
  std::error_code ignored;
  std::vector<std::filesystem::path> tried = {places.folder / relative,
                                              places.shared.parent_path() / relative};
  for (const std::filesystem::path& path : tried) {
    if (std::filesystem::is_regular_file(path, ignored)) return path.lexically_normal().string();
  }
  return Error{
      fmt::format("{} is not on this machine (looked for in {} and {}); put it there, or "
                  "set MUSTER_SHARED to the folder that holds it",
                  relative, places.folder.string(), places.shared.parent_path().string())};
}

}  // namespace muster
