#include "run/sweep/sweep_journal.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/out_file.h"
#include "report/json.h"
#include "run/config/config.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDescription = "sweep.toml";
constexpr std::string_view kJournal = "journal.jsonl";

std::string line_of(std::size_t point, const Metrics& metrics) {
  JsonWriter json;
  json.begin_object().member("point", static_cast<double>(point));
  for (const MetricInfo& info : metric_list()) {
    if (machine_free(info)) json.member(info.key, metrics.*info.field);
  }
  json.end_object();
  return json.take() + "\n";
}

// False for a line that was cut off.
bool read_line(std::string_view line, std::size_t& point, Metrics& metrics) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("point") || !json["point"].is_number()) return false;
  point = json["point"].get<std::size_t>();
  for (const MetricInfo& info : metric_list()) {
    const auto found = json.find(std::string(info.key));
    if (found == json.end()) continue;
    metrics.*info.field = found->is_number() ? found->get<double>() : kNoFigure;
  }
  return true;
}

}  // namespace

bool machine_free(const MetricInfo& info) {
  return info.key != "wall_s" && info.key != "peak_rss_mb";
}

std::string folder_for_sweep(const std::string& name, const std::string& description) {
  std::error_code code;
  std::string folder = name;
  for (int i = 2; fs::exists(folder, code); ++i) {
    const auto held = read_file(fmt::format("{}/{}", folder, kDescription));
    if (held && *held == description) break;
    if (fs::is_directory(folder, code) && fs::is_empty(folder, code)) break;
    folder = fmt::format("{}-{}", name, i);
  }
  return folder;
}

Result<SweepJournal> SweepJournal::open(const std::string& folder, const std::string& description) {
  const std::string described = fmt::format("{}/{}", folder, kDescription);
  std::error_code code;
  if (fs::exists(described, code)) {
    const auto before = read_file(described);
    if (!before) return before.error();
    if (*before != description) {
      return Error{fmt::format(
          "{} holds another sweep: {}. Choose another folder with --output, or remove this one",
          folder, first_difference(*before, description))};
    }
  } else {
    if (fs::exists(folder, code) && !fs::is_empty(folder, code)) {
      return Error{
          fmt::format("{} exists and is not a sweep: choose another folder with --output", folder)};
    }
    fs::create_directories(folder, code);
    if (code) return file_error("create", folder, code.value());
    if (Status written = replace_file(described, description); !written) return written.error();
  }

  std::string path = fmt::format("{}/{}", folder, kJournal);
  std::map<std::size_t, Metrics> done;
  std::size_t whole = 0;  // bytes of whole lines
  if (fs::exists(path, code)) {
    const auto text = read_file(path);
    if (!text) return text.error();
    for (std::size_t end = 0; (end = text->find('\n', whole)) != std::string::npos;) {
      std::size_t point = 0;
      Metrics metrics;
      if (read_line(std::string_view(*text).substr(whole, end - whole), point, metrics)) {
        done[point] = metrics;
      }
      whole = end + 1;
    }
  }
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) return file_error("write", path, errno);
  SweepJournal journal(std::move(path), descriptor);
  journal.done_ = std::move(done);
  if (ftruncate(descriptor, static_cast<off_t>(whole)) != 0) {
    return file_error("write", journal.path_, errno);
  }
  return journal;
}

SweepJournal::SweepJournal(SweepJournal&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(other.descriptor_), done_(std::move(other.done_)) {
  other.descriptor_ = -1;
}

SweepJournal::~SweepJournal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status SweepJournal::add(std::size_t point, const Metrics& metrics) {
  const std::string line = line_of(point, metrics);
  const ssize_t written = ::write(descriptor_, line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return Done{};
  return file_error("write", path_, written < 0 ? errno : ENOSPC);
}

}  // namespace muster
