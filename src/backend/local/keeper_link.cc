#include "backend/local/keeper_link.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

namespace muster {
namespace {

constexpr std::size_t kLongestLine = 8192;

}  // namespace

bool KeeperLink::connect(const std::filesystem::path& folder) {
  close();
  // A state folder may have a longer path than a socket address holds.
  const int place = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (place < 0) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("/proc/self/fd/{}/control.sock", place);
  std::memcpy(address.sun_path, name.data(), name.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool there = socket >= 0 && ::connect(socket, reinterpret_cast<const sockaddr*>(&address),
                                              sizeof address) == 0;
  ::close(place);
  if (there) {
    socket_ = socket;
  } else if (socket >= 0) {
    ::close(socket);
  }
  return there;
}

void KeeperLink::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  unread_.clear();
}

void KeeperLink::say(std::string_view line) {
  if (socket_ < 0) return;
  std::string text(line);
  text += '\n';
  const ssize_t sent = send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  // Commands are short and few: one that does not fit means that the keeper does not read.
  if (sent != static_cast<ssize_t>(text.size())) shutdown(socket_, SHUT_RDWR);
}

std::vector<std::string> KeeperLink::hear(bool& open) {
  std::vector<std::string> lines;
  open = socket_ >= 0;
  char buffer[4096];
  while (open) {
    const ssize_t count = read(socket_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) {
      open = false;
      break;
    }
    unread_.append(buffer, static_cast<std::size_t>(count));
  }
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = unread_.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    lines.push_back(unread_.substr(begin, end - begin));
  }
  unread_.erase(0, begin);
  if (unread_.size() > kLongestLine) open = false;
  return lines;
}

}  // namespace muster
