#include "report/folder_swap.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/out_file.h"
#include "report/summary_json.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

// What Muster itself puts into a result folder; a folder with anything else is not only ours.
constexpr std::array<std::string_view, 9> kOwnNames = {
    "summary.json", "jobs.csv",    "decisions.bin", "decisions.csv", "timeline.csv",
    "turns.csv",    "report.html", "trace.json",    "inputs"};

enum class Target { kFree, kOwn, kForeign, kFile };

struct Found {
  Target kind = Target::kFree;
  std::string stranger;  // an entry that is not ours
};

Found look_at(const std::string& target) {
  std::error_code code;
  const fs::file_status status = fs::status(target, code);
  if (!fs::exists(status)) return {};
  if (!fs::is_directory(status)) return {Target::kFile, {}};
  bool any = false;
  std::string stranger;
  for (fs::directory_iterator entry(target, code), end; !code && entry != end;
       entry.increment(code)) {
    any = true;
    const std::string name = entry->path().filename().string();
    if (std::find(kOwnNames.begin(), kOwnNames.end(), name) == kOwnNames.end()) {
      stranger = stranger.empty() ? name : std::min(stranger, name);
    }
  }
  if (code) return {Target::kForeign, "entries that cannot be listed"};
  if (!any) return {};
  if (!stranger.empty()) return {Target::kForeign, stranger};
  const auto summary = read_file(target + "/summary.json");
  if (!summary || summary->find(kResultFormat) == std::string::npos) {
    return {Target::kForeign, "no muster summary.json"};
  }
  return {Target::kOwn, {}};
}

// The path without a trailing slash, and with links followed, so that renaming hits the folder
// itself.
std::string own_path(const std::string& target) {
  std::error_code code;
  fs::path path = fs::weakly_canonical(target, code);
  if (code) path = target;
  if (path.filename().empty()) path = path.parent_path();
  return path.string();
}

std::string free_name(const std::string& base) {
  std::string name = base;
  for (int i = 2; fs::exists(fs::symlink_status(name)); ++i) name = fmt::format("{}-{}", base, i);
  return name;
}

Status move(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return Done{};
  return file_error("move " + from + " to", to, errno);
}

}  // namespace

Status check_target(const std::string& target, bool force) {
  if (target.empty()) return Error{"no folder was named for the results"};
  const std::string path = own_path(target);
  if (path == "/" || path.empty()) return Error{fmt::format("results cannot replace {}", target)};
  const Found found = look_at(path);
  if (found.kind == Target::kFile) {
    return Error{fmt::format("{} is a file; name another folder for the results", target)};
  }
  if (found.kind == Target::kForeign && !force) {
    return Error{fmt::format(
        "{} exists and is not only a muster result (it has {}); name another folder, or "
        "use --force to set it aside as {}.old",
        target, found.stranger, path)};
  }
  return Done{};
}

Status set_aside(const std::string& target) {
  const std::string path = own_path(target);
  return move(path, free_name(path + ".old"));
}

Result<std::string> make_partial_folder(const std::string& target) {
  const std::string path = own_path(target);
  std::error_code code;
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty()) fs::create_directories(parent, code);
  if (code) return file_error("create", parent.string(), code.value());
  const std::string partial = free_name(fmt::format("{}.partial-{}", path, ::getpid()));
  if (!fs::create_directory(partial, code)) return file_error("create", partial, code.value());
  return partial;
}

Status put_in_place(const std::string& partial, const std::string& target, bool force) {
  // The target may have changed since the run began.
  if (Status checked = check_target(target, force); !checked) return checked;
  const std::string path = own_path(target);
  switch (look_at(path).kind) {
    case Target::kFile:
    case Target::kFree:
      return move(partial, path);  // an empty folder gives way
    case Target::kForeign: {
      if (Status moved = set_aside(path); !moved) return moved;
      return move(partial, path);
    }
    case Target::kOwn:
      break;
  }
  std::string old = partial;
  if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0) {
    // Not every file system can exchange two names.
    old = free_name(path + ".old");
    if (Status moved = move(path, old); !moved) return moved;
    if (Status moved = move(partial, path); !moved) {
      if (Status back = move(old, path); !back) return back;
      return moved;
    }
  }
  std::error_code ignored;  // the new result stands; what is left of the old one does no harm
  fs::remove_all(old, ignored);
  return Done{};
}

}  // namespace muster
