#include "daemon/state_directory.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <signal.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

Error failure(const std::filesystem::path& path, std::string_view what) {
  return Error{fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno))};
}

// Who has the lock. The holder writes its number just after it takes the lock, so it may be missing
// for a moment.
std::string holder(int lock) {
  std::array<char, 32> text{};
  for (int attempt = 0; attempt < 20; ++attempt) {
    const ssize_t length = pread(lock, text.data(), text.size() - 1, 0);
    if (length > 0) return std::string(trim({text.data(), static_cast<std::size_t>(length)}));
    usleep(10'000);
  }
  return "unknown";
}

bool is_gone(const std::string& process) {
  const std::optional<long long> number = parse_integer(process);
  return number && *number > 0 && kill(static_cast<pid_t>(*number), 0) != 0 && errno == ESRCH;
}

// Takes the lock, or says why it cannot be had. A process that its holder was just starting when it
// was killed has the lock, too, until it has become its program: that is waited for.
bool take(int lock, std::string& by) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK) return false;
    by = holder(lock);
    if (!is_gone(by)) break;
    usleep(10'000);
  }
  errno = EWOULDBLOCK;
  return false;
}

}  // namespace

Result<StateDirectory> StateDirectory::open(const std::filesystem::path& path) {
  std::error_code code;
  const std::filesystem::path whole = std::filesystem::absolute(path, code);
  if (!std::filesystem::is_directory(whole, code)) {
    std::filesystem::create_directories(whole.parent_path(), code);
    if (mkdir(whole.c_str(), 0700) != 0 && errno != EEXIST) return failure(whole, "make folder");
  }
  const std::filesystem::path file = whole / "daemon.lock";
  const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) return failure(file, "open");
  std::string by;
  if (!take(lock, by)) {
    const bool taken = errno == EWOULDBLOCK;
    const Error error =
        taken ? Error{fmt::format("{} is in use by the daemon with process id {}; stop that one "
                                  "first, or name another state folder",
                                  whole.string(), by)}
              : failure(file, "lock");
    close(lock);
    return error;
  }
  const std::string self = fmt::format("{}\n", getpid());
  const auto length = static_cast<ssize_t>(self.size());
  if (ftruncate(lock, 0) != 0 || pwrite(lock, self.data(), self.size(), 0) != length) {
    const Error error = failure(file, "write");
    close(lock);
    return error;
  }
  return StateDirectory(whole, lock);
}

StateDirectory::~StateDirectory() {
  if (lock_ < 0) return;
  static_cast<void>(ftruncate(lock_, 0));
  close(lock_);
}

}  // namespace muster
