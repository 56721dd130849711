#include "workload/data/data_folder.h"

#include <cstdlib>
#include <fstream>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "workload/data/sha256.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSeenFile = "SHA256SUMS.seen";

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::optional<fs::path> place_of(const DataFile& file, const DataPlaces& places) {
  for (const fs::path& folder : {places.folder, places.shared}) {
    if (!folder.empty() && is_file(folder / file.path)) return folder / file.path;
  }
  return std::nullopt;
}

DataCheck wrong(const fs::path& path, std::string problem) {
  return {DataState::kWrong, path, std::move(problem)};
}

}  // namespace

DataPlaces data_places(const std::string& folder) {
  DataPlaces places;
  if (!folder.empty()) {
    places.folder = folder;
  } else if (const std::string own = setting("MUSTER_DATA"); !own.empty()) {
    places.folder = own;
  } else if (const std::string base = setting("XDG_DATA_HOME"); !base.empty()) {
    places.folder = fs::path(base) / "muster";
  } else {
    places.folder = fs::path(setting("HOME")) / ".local" / "share" / "muster";
  }
  const std::string shared = setting("MUSTER_SHARED");
  places.shared = fs::path(shared.empty() ? "../shared" : shared) / "data";
  return places;
}

Result<fs::path> locate_data(std::string_view name, const Catalogue& catalogue,
                             const DataPlaces& places) {
  const auto found = catalogue.find(name);
  if (!found) return found.error();
  const DataSet& set = *found->first;
  const DataFile* file = found->second;
  if (file == nullptr && set.files.size() == 1) file = &set.files.front();
  if (file == nullptr) {
    return Error{fmt::format("data '{}' has {} files; name one, like {}", name, set.files.size(),
                             set.files.front().path)};
  }
  if (const auto path = place_of(*file, places)) return *path;
  return Error{fmt::format(
      "the data file {} is missing: it is neither in {} nor in {}. Fetch it with "
      "`muster data fetch {}` (published at {}; licence: {})",
      file->path, places.folder.string(), places.shared.string(), set.name, set.home, set.licence)};
}

Result<fs::path> locate_data(std::string_view name) {
  const Result<Catalogue> catalogue = own_catalogue();
  if (!catalogue) return catalogue.error();
  return locate_data(name, *catalogue, data_places());
}

DataCheck look_for_data(const DataFile& file, const DataPlaces& places) {
  const auto path = place_of(file, places);
  if (!path) return {};
  std::error_code code;
  const std::uint64_t size = fs::file_size(*path, code);
  if (code) return {DataState::kUnreadable, *path, code.message()};
  if (file.size && size != *file.size) {
    return wrong(*path, fmt::format("has {} bytes, but should have {}", size, *file.size));
  }
  return {file.sha256.empty() ? DataState::kUnverified : DataState::kGood, *path, {}};
}

DataCheck verify_data(const DataFile& file, const DataPlaces& places) {
  DataCheck check = look_for_data(file, places);
  if (check.state != DataState::kGood && check.state != DataState::kUnverified) return check;
  const Result<std::string> sum = sha256_of_file(check.path.string());
  if (!sum) return {DataState::kUnreadable, check.path, sum.error().message};
  const std::string seen =
      file.sha256.empty() ? seen_checksum(places.folder, file.path) : file.sha256;
  if (seen.empty()) return check;
  if (*sum != seen)
    return wrong(check.path, fmt::format("has SHA-256 {}, but should have {}", *sum, seen));
  check.state = file.sha256.empty() ? DataState::kSeen : DataState::kGood;
  return check;
}

std::string seen_checksum(const fs::path& folder, std::string_view path) {
  std::ifstream in(folder / kSeenFile);
  std::string found;
  // The last line counts: a file may have been fetched again.
  for (std::string line; std::getline(in, line);) {
    const std::size_t gap = line.find("  ");
    if (gap != std::string::npos && std::string_view(line).substr(gap + 2) == path) {
      found = line.substr(0, gap);
    }
  }
  return found;
}

Status remember_checksum(const fs::path& folder, std::string_view path, std::string_view sha256) {
  std::ofstream out(folder / kSeenFile, std::ios::app);
  out << sha256 << "  " << path << '\n';
  out.close();
  if (!out) return Error{fmt::format("{}: cannot be written", (folder / kSeenFile).string())};
  return Done{};
}

}  // namespace muster
