#include "backend/local/run_folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/out_file.h"
#include "base/text.h"

extern char** environ;

namespace muster {
namespace {

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  if (!open) return names;
  while (const dirent* entry = readdir(open.get())) names.emplace_back(entry->d_name);
  return names;
}

}  // namespace

std::string run_folder_name(RunId run) { return fmt::format("{}.{}", index(run.job), run.launch); }

std::optional<RunId> parse_run_folder(std::string_view name) {
  const std::vector<std::string_view> parts = split(name, '.');
  if (parts.size() != 2) return std::nullopt;
  const std::optional<std::int64_t> job = parse_integer(parts[0]);
  const std::optional<std::int64_t> launch = parse_integer(parts[1]);
  constexpr std::int64_t kMost = 0xfffffffe;
  if (!job || !launch || *job < 0 || *launch < 0 || *job > kMost || *launch > kMost) {
    return std::nullopt;
  }
  const RunId run{JobId{static_cast<std::uint32_t>(*job)}, static_cast<std::uint32_t>(*launch)};
  // One spelling only: "01.2" is no run.
  if (run_folder_name(run) != name) return std::nullopt;
  return run;
}

std::vector<RunId> runs_in(const std::filesystem::path& parent) {
  std::vector<RunId> runs;
  for (const std::string& name : names_in(parent)) {
    if (const std::optional<RunId> run = parse_run_folder(name)) runs.push_back(*run);
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

Status make_run_folder(const std::filesystem::path& folder, const KeeperOrder& order) {
  if (mkdir(folder.c_str(), 0700) != 0) {
    return file_error("make", folder.string(), errno);
  }
  // Processes of other users may reach the job's socket, but cannot list the folder.
  if (order.identity &&
      (chmod(folder.parent_path().c_str(), 0711) != 0 || chmod(folder.c_str(), 0711) != 0)) {
    return file_error("set the permissions of", folder.string(), errno);
  }
  Status written = write_file((folder / "order.json").string(), order_text(order));
  if (written && chmod((folder / "order.json").c_str(), 0600) != 0) {
    return file_error("set the permissions of", folder.string(), errno);
  }
  return written;
}

Result<pid_t> start_keeper(const std::filesystem::path& program,
                           const std::filesystem::path& folder) {
  std::string name = program.string();
  std::string where = folder.string();
  std::array<char*, 3> arguments = {name.data(), where.data(), nullptr};
  pid_t process = -1;
  const int code = posix_spawn(&process, name.c_str(), nullptr, nullptr, arguments.data(), environ);
  if (code != 0) {
    return Error{fmt::format("cannot start {}: {}; it is installed beside the command `muster`",
                             name, std::strerror(code))};
  }
  return process;
}

Result<std::optional<ExitRecord>> read_exit_record(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "exit.json";
  if (access(file.c_str(), F_OK) != 0) return std::optional<ExitRecord>();
  const Result<std::string> text = read_file(file.string());
  if (!text) return text.error();
  Result<ExitRecord> record = parse_record(*text);
  if (!record) return Error{fmt::format("{}: {}", file.string(), record.error().message)};
  return std::optional<ExitRecord>(std::move(*record));
}

bool keeper_lives(const std::filesystem::path& folder) {
  const std::string where = folder.string();
  for (const std::string& name : names_in("/proc")) {
    if (name.empty() || name[0] < '1' || name[0] > '9') continue;
    const Result<std::string> line = read_file("/proc/" + name + "/cmdline");
    if (!line) continue;
    const std::vector<std::string_view> words = split(*line, '\0');
    if (words.size() >= 2 && words[1] == where && words[0].ends_with("muster-keeper")) return true;
  }
  return false;
}

bool keeper_listened(const std::filesystem::path& folder) {
  return access((folder / "control.sock").c_str(), F_OK) == 0;
}

int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return 0;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  int port = 0;
  if (bind(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
      getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
    port = ntohs(address.sin_port);
  }
  close(socket);
  return port;
}

}  // namespace muster
