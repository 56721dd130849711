// The scheduler's end of a keeper's control socket: lines of text in both directions, for a process
// that waits in poll(2).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

class KeeperLink {
 public:
  KeeperLink() = default;
  KeeperLink(KeeperLink&& other) noexcept { swap(other); }
  KeeperLink& operator=(KeeperLink&& other) noexcept {
    swap(other);
    return *this;
  }
  ~KeeperLink() { close(); }

  // To control.sock in `folder`. False: no keeper listens there now.
  bool connect(const std::filesystem::path& folder);
  bool connected() const { return socket_ >= 0; }
  int socket() const { return socket_; }
  void close();

  // A keeper that does not read its lines is cut off.
  void say(std::string_view line);
  // Lines that have come, without their ends; `open` turns false when the other end is gone.
  std::vector<std::string> hear(bool& open);

 private:
  void swap(KeeperLink& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(unread_, other.unread_);
  }

  int socket_ = -1;
  std::string unread_;
};

}  // namespace muster
