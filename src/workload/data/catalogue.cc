#include "workload/data/catalogue.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "base/toml_library.h"
#include "workload/byte_input.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSha256Letters = 64;

// Reads one table of the catalogue; the first mistake is kept.
class Entry {
 public:
  Entry(const toml::table& table, std::string_view file) : table_(table), file_(file) {}

  std::string text(std::string_view key, bool required = true) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      if (required) complain(table_, fmt::format("'{}' is missing", key));
      return {};
    }
    const auto value = node->value_exact<std::string>();
    if (!value || (required && value->empty()))
      complain(*node, fmt::format("'{}' must be a text", key));
    return value.value_or("");
  }

  std::optional<std::uint64_t> size() {
    const toml::node* node = table_.get("size");
    if (node == nullptr) return std::nullopt;
    const auto value = node->value_exact<std::int64_t>();
    if (value && *value >= 0) return static_cast<std::uint64_t>(*value);
    complain(*node, "'size' must be a number of bytes");
    return std::nullopt;
  }

  void complain(const toml::node& node, std::string_view problem) {
    if (error_) return;
    error_ = Error{fmt::format("{}: line {}: {}", file_, node.source().begin.line, problem)};
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const toml::table& table_;
  std::string_view file_;
  std::optional<Error> error_;
};

// A path that stays in the data folder.
bool is_inside(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\\') != std::string_view::npos)
    return false;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

bool is_sha256(std::string_view text) {
  return text.size() == kSha256Letters &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<DataFile> read_file_entry(const toml::table& table, std::string_view base,
                                 std::string_view file) {
  Entry entry(table, file);
  DataFile data;
  data.path = entry.text("path");
  const std::string url = entry.text("url");
  data.url = url.find("://") == std::string::npos ? std::string(base) + url : url;
  data.size = entry.size();
  data.sha256 = entry.text("sha256", false);
  if (!is_inside(data.path))
    entry.complain(table, "'path' must lead to a place under the data folder");
  if (!data.sha256.empty() && !is_sha256(data.sha256)) {
    entry.complain(table, "'sha256' must have 64 digits 0-9a-f");
  }
  if (entry.error()) return *entry.error();
  return data;
}

Result<DataSet> read_set(const toml::table& table, std::string_view file) {
  Entry entry(table, file);
  DataSet set;
  set.name = entry.text("name");
  set.what = entry.text("what");
  set.used_for = entry.text("for");
  set.authors = entry.text("authors");
  set.home = entry.text("home");
  set.licence = entry.text("licence");
  set.notes = entry.text("notes", false);
  const std::string base = entry.text("base", false);
  const toml::array* files = table["files"].as_array();
  if (files == nullptr || files->empty()) {
    entry.complain(table, "'files' must be a list of files");
  } else {
    for (const toml::node& node : *files) {
      const toml::table* item = node.as_table();
      if (item == nullptr) {
        entry.complain(node, "a file must be a table with path and url");
        break;
      }
      Result<DataFile> data = read_file_entry(*item, base, file);
      if (!data) return data.error();
      set.files.push_back(std::move(*data));
    }
  }
  if (entry.error()) return *entry.error();
  return set;
}

// Where files that come with Muster may be, best first.
std::vector<fs::path> homes() {
  if (const char* home = std::getenv("MUSTER_HOME"); home != nullptr && *home != '\0') {
    return {fs::path(home)};
  }
  std::error_code ignored;
  const fs::path beside = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  return {beside / ".." / "share" / "muster", beside / ".." / ".."};
}

}  // namespace

std::uint64_t DataSet::size() const {
  std::uint64_t sum = 0;
  for (const DataFile& file : files) sum += file.size.value_or(0);
  return sum;
}

Result<std::pair<const DataSet*, const DataFile*>> Catalogue::find(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const DataSet& set : sets) {
    if (set.name == name) return std::pair<const DataSet*, const DataFile*>(&set, nullptr);
    names.push_back(set.name);
    for (const DataFile& file : set.files) {
      if (file.path == name) return std::pair<const DataSet*, const DataFile*>(&set, &file);
    }
  }
  return Error{unknown_name("data", name, names)};
}

Result<Catalogue> parse_catalogue(std::string_view text, std::string_view file) {
  const toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    return Error{fmt::format("{}: line {}: {}", file, parsed.error().source().begin.line,
                             parsed.error().description())};
  }
  const toml::array* sets = parsed.table()["dataset"].as_array();
  if (sets == nullptr)
    return Error{fmt::format("{}: expected tables [[dataset]], found none", file)};
  Catalogue catalogue;
  std::set<std::string> seen;
  for (const toml::node& node : *sets) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return Error{fmt::format("{}: 'dataset' must be a list of tables", file)};
    Result<DataSet> set = read_set(*table, file);
    if (!set) return set.error();
    bool is_new = seen.insert(set->name).second;
    for (const DataFile& data : set->files) is_new = seen.insert(data.path).second && is_new;
    if (!is_new) {
      return Error{fmt::format("{}: line {}: '{}' has a name or path that was there before", file,
                               table->source().begin.line, set->name)};
    }
    catalogue.sets.push_back(std::move(*set));
  }
  return catalogue;
}

Result<Catalogue> read_catalogue(const std::string& file) {
  const Result<std::string> text = read_whole(file);
  if (!text) return text.error();
  return parse_catalogue(*text, file);
}

Result<Catalogue> own_catalogue() {
  const std::vector<fs::path> places = homes();
  for (const fs::path& home : places) {
    const fs::path file = (home / "data" / "catalogue.toml").lexically_normal();
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) return read_catalogue(file.string());
  }
  return Error{
      fmt::format("the catalogue of data is not at {}: set MUSTER_HOME to the folder that holds "
                  "data/catalogue.toml",
                  (places.front() / "data" / "catalogue.toml").lexically_normal().string())};
}

}  // namespace muster
