#include "run/experiment/golden.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/csv.h"
#include "base/text.h"
#include "workload/byte_input.h"
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
    GoldenJob job;
    job.id = *id;
    job.submit = value[0].get<double>();
    job.end = value[1].get<double>();
    jobs.push_back(job);
  }
  return jobs;
}

// The columns of a CSV file that golden jobs are made of.
struct GoldenColumns {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t id = kNone;
  std::size_t submit = kNone;
  std::size_t start = kNone;
  std::size_t end = kNone;
  std::size_t jct = kNone;
  std::size_t preempted = kNone;
  std::size_t outcome = kNone;
  std::vector<std::pair<std::size_t, std::string>> wanted;

  Status find(const std::vector<std::string>& header, const std::string& path,
              const GoldenSource& source) {
    const auto column = [&](std::string_view name, std::size_t& place) -> Status {
      if (name.empty()) return Done{};
      const auto found = std::find(header.begin(), header.end(), name);
      if (found == header.end()) return Error{fmt::format("{} has no column {}", path, name)};
      place = static_cast<std::size_t>(found - header.begin());
      return Done{};
    };
    const std::pair<std::string_view, std::size_t*> places[] = {
        {source.id, &id},   {source.submit, &submit},       {source.start, &start},
        {source.end, &end}, {source.preempted, &preempted}, {source.outcome, &outcome},
        {source.jct, &jct},
    };
    for (const auto& [name, place] : places) {
      if (Status found = column(name, *place); !found) return found;
    }
    for (const auto& [name, value] : source.where) {
      std::size_t place = kNone;
      if (Status found = column(name, place); !found) return found;
      wanted.emplace_back(place, value);
    }
    return Done{};
  }
  bool counts(const std::vector<std::string>& fields) const {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](const auto& one) { return fields[one.first] == one.second; });
  }
  // Empty when a field is no number.
  std::optional<GoldenJob> job(const std::vector<std::string>& fields) const {
    GoldenJob made;
    const auto id_text = parse_integer(fields[id]);
    if (!id_text) return std::nullopt;
    made.id = *id_text;
    if (outcome != kNone) made.outcome = fields[outcome];
    const std::pair<std::size_t, Seconds*> times[] = {
        {submit, &made.submit}, {start, &made.start}, {end, &made.end}, {jct, &made.jct}};
    for (const auto& [place, time] : times) {
      if (place == kNone) continue;
      const bool never_ended = outcome != kNone && time == &made.end && fields[place].empty();
      const auto value = never_ended ? kNever : parse_real(fields[place]);
      if (!value) return std::nullopt;
      *time = *value;
    }
    if (preempted != kNone) {
      const auto value = parse_integer(fields[preempted]);
      if (!value) return std::nullopt;
      made.preempted = *value;
    }
    return made;
  }
};

Result<std::vector<GoldenJob>> from_csv(std::string_view text, const std::string& path,
                                        const GoldenSource& source) {
  std::vector<std::string> header;
  std::vector<std::string> fields;
  const char separator = path.ends_with(".tsv") ? '\t' : ',';
  if (!next_csv_record(text, header, separator)) return Error{fmt::format("{} is empty", path)};
  GoldenColumns columns;
  if (Status found = columns.find(header, path, source); !found) return found.error();
  std::vector<GoldenJob> jobs;
  for (std::size_t line = 2; next_csv_record(text, fields, separator); ++line) {
    if (fields.size() != header.size()) {
      return Error{fmt::format("{}, line {}: found {} fields, expected {}", path, line,
                               fields.size(), header.size())};
    }
    if (!columns.counts(fields)) continue;
    const auto job = columns.job(fields);
    if (!job) return Error{fmt::format("{}, line {}: not numbers", path, line)};
    jobs.push_back(*job);
  }
  return jobs;
}

}  // namespace

Result<std::vector<GoldenJob>> read_golden(const std::string& path, const GoldenSource& source) {
  const auto text = read_whole(path);
  if (!text) return text.error();
  auto jobs = path.ends_with(".json") ? from_json(*text, path) : from_csv(*text, path, source);
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
    // Folders of tables, and files inside archives, count as well.
    const bool there = std::filesystem::exists(path, ignored) ||
                       std::filesystem::is_regular_file(path.parent_path(), ignored);
    if (there) return path.lexically_normal().string();
  }
  return Error{
      fmt::format("{} is not on this machine (looked for in {} and {}); put it there, or "
                  "set MUSTER_SHARED to the folder that holds it",
                  relative, places.folder.string(), places.shared.parent_path().string())};
}

}  // namespace muster
