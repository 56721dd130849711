#include "report/comparison_file.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/out_file.h"
#include "report/folder_swap.h"
#include "report/json.h"

namespace muster {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kFormat = "muster-comparison";

std::string file_in(const std::string& folder) {
  return fmt::format("{}/{}", folder, kComparisonName);
}

// A name inside the folder, and nothing that leads out of it.
bool plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

}  // namespace

std::vector<std::string> ComparisonFile::missing() const {
  std::vector<std::string> names;
  for (const Run& run : runs) {
    if (!run.complete) names.push_back(run.name);
  }
  return names;
}

bool is_comparison(const std::string& folder) {
  std::error_code code;
  return fs::is_regular_file(file_in(folder), code);
}

Result<ComparisonFile> read_comparison(const std::string& folder) {
  const auto text = read_file(file_in(folder));
  if (!text) return text.error();
  const Json root = Json::parse(*text, nullptr, false);
  const Error damaged{fmt::format(
      "{} is damaged: it does not list the runs of a comparison; run the comparison again",
      file_in(folder))};
  if (!root.is_object() || root.value("format", Json()) != Json(kFormat)) return damaged;
  ComparisonFile comparison;
  for (const Json& item : root.value("runs", Json::array())) {
    const bool good = item.is_object() && item.value("name", Json()).is_string() &&
                      item.value("folder", Json()).is_string();
    if (!good || !plain_name(item["folder"].get<std::string>())) return damaged;
    comparison.runs.push_back({item["name"].get<std::string>(), item["folder"].get<std::string>(),
                               item.value("complete", Json(false)) == Json(true)});
  }
  return comparison;
}

Status write_comparison(const std::string& folder, const ComparisonFile& comparison) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return file_error("create", folder, code.value());
  JsonWriter json(1);
  json.begin_object().member("format", kFormat).key("runs").begin_array();
  for (const ComparisonFile::Run& run : comparison.runs) {
    json.begin_object().member("name", std::string_view(run.name));
    json.member("folder", std::string_view(run.folder)).member("complete", run.complete);
    json.end_object();
  }
  json.end_array().end_object();
  return replace_file(file_in(folder), json.take() + "\n");
}

Status clear_comparison(const std::string& folder, bool force) {
  if (!is_comparison(folder)) return Done{};
  const auto old = read_comparison(folder);
  if (!old) return old.error();
  std::error_code code;
  for (const ComparisonFile::Run& run : old->runs) {
    for (const char* const ending : {"", ".incomplete"}) {
      const std::string path = fmt::format("{}/{}{}", folder, run.folder, ending);
      if (!fs::is_directory(path, code)) continue;
      if (Status ours = check_target(path, false); !ours) {
        if (!force) return ours;
        if (Status moved = set_aside(path); !moved) return moved;
        continue;
      }
      fs::remove_all(path, code);
      if (code) return file_error("remove", path, code.value());
    }
  }
  fs::remove(folder + "/report.html", code);
  fs::remove(file_in(folder), code);
  return Done{};
}

}  // namespace muster
