#include "agent/keeper/line_server.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace muster {
namespace {

constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kMostUnread = 1 << 20;
constexpr std::size_t kMostClients = 1024;

bool trusted(int socket, uid_t guest) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == geteuid() || peer.uid == guest || peer.uid == 0);
}

}  // namespace

Result<LineServer> LineServer::listen(const std::string& name, const Identity* guest) {
  const auto failure = [&name] {
    return Error{fmt::format("cannot listen at {}: {}", name, std::strerror(errno))};
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return failure();
  }
  std::memcpy(address.sun_path, name.data(), name.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return failure();
  LineServer server(socket, guest == nullptr ? geteuid() : guest->user);
  unlink(name.c_str());
  const mode_t mask = umask(0177);
  const int bound = bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  umask(mask);
  if (bound != 0 || (guest != nullptr && chown(name.c_str(), guest->user, guest->group) != 0) ||
      ::listen(socket, 64) != 0) {
    return failure();
  }
  return server;
}

LineServer::LineServer(LineServer&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      guest_(other.guest_),
      next_(other.next_),
      clients_(std::exchange(other.clients_, {})) {}

LineServer::~LineServer() {
  for (const auto& [number, client] : clients_) close(client.socket);
  if (socket_ >= 0) close(socket_);
}

void LineServer::add_polls(std::vector<pollfd>& polls) const {
  polls.push_back({socket_, POLLIN, 0});
  for (const auto& [number, client] : clients_) {
    polls.push_back(
        {client.socket, static_cast<short>(client.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
  }
}

void LineServer::accept_one() {
  const int socket = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) return;
  if (!trusted(socket, guest_) || clients_.size() >= kMostClients) {
    close(socket);
    return;
  }
  clients_[next_++].socket = socket;
}

bool LineServer::read_lines(int number, Client& client, const Heard& heard) {
  char buffer[4096];
  const ssize_t count = read(client.socket, buffer, sizeof buffer);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  client.in.append(buffer, static_cast<std::size_t>(count));
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = client.in.find('\n', begin)) != std::string::npos;) {
    if (!heard(number, std::string_view(client.in).substr(begin, end - begin))) {
      client.ending = true;
      client.in.clear();
      return true;
    }
    begin = end + 1;
  }
  client.in.erase(0, begin);
  return client.in.size() <= kLongestLine;
}

bool LineServer::flush(Client& client) {
  while (!client.out.empty()) {
    const ssize_t count =
        ::send(client.socket, client.out.data(), client.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    client.out.erase(0, static_cast<std::size_t>(count));
  }
  return true;
}

void LineServer::serve(const std::vector<pollfd>& polls, const Heard& heard, const Closed& closed) {
  std::map<int, short> ready;
  for (const pollfd& poll : polls) {
    if (poll.revents != 0) ready[poll.fd] = poll.revents;
  }
  std::vector<int> over;
  for (auto& [number, client] : clients_) {
    const auto found = ready.find(client.socket);
    bool open = true;
    if (found != ready.end() && !client.ending) open = read_lines(number, client, heard);
    open = flush(client) && open;
    if (!open || client.out.size() > kMostUnread || (client.ending && client.out.empty())) {
      over.push_back(number);
    }
  }
  for (const int number : over) {
    close(clients_[number].socket);
    clients_.erase(number);
    closed(number);
  }
  if (ready.contains(socket_)) accept_one();
}

void LineServer::send(int client, std::string_view line) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  found->second.out.append(line);
  found->second.out.push_back('\n');
  flush(found->second);  // a failure shows at the next read
}

void LineServer::send_all(std::string_view line) {
  for (const auto& [number, client] : clients_) send(number, line);
}

}  // namespace muster
