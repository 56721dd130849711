#include <boost/beast/http.hpp>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "daemon/http/http.h"

namespace muster {
namespace {

namespace http = boost::beast::http;
using Clock = std::chrono::steady_clock;
using BoostCode = boost::system::error_code;

// A socket with bytes in both directions, through TLS where there is one, until a moment.
class ByteLink {
 public:
  ByteLink() = default;
  ByteLink(ByteLink&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), tls_(std::move(other.tls_)) {}
  ByteLink& operator=(ByteLink&&) = delete;
  ~ByteLink() {
    if (socket_ >= 0) close(socket_);
  }

  // Takes a socket that is connected, or on its way.
  explicit ByteLink(int socket) : socket_(socket) {}

  Status begin_tls(std::shared_ptr<const TlsContext> context, const std::string& host,
                   Clock::time_point until) {
    tls_ = std::make_unique<TlsPipe>(std::move(context), host);
    std::string early;
    while (!tls_->ready()) {
      if (Status sent = send(tls_->take_output(), until); !sent) return sent;
      const Result<std::string> bytes = receive(until);
      if (!bytes) return bytes.error();
      const Status heard = tls_->hear(*bytes, early);
      if (!heard) {
        const Status told = send(tls_->take_output(), until);  // why we leave
        static_cast<void>(static_cast<bool>(told));
        return heard;
      }
    }
    plain_ = std::move(early);
    return send(tls_->take_output(), until);
  }

  Status write(const std::string& text, Clock::time_point until) {
    if (!tls_) return send(text, until);
    if (Status said = tls_->say(text); !said) return said;
    return send(tls_->take_output(), until);
  }
  // At least one byte.
  Result<std::string> read(Clock::time_point until) {
    while (plain_.empty()) {
      Result<std::string> bytes = receive(until);
      if (!bytes || !tls_) return bytes;
      if (Status heard = tls_->hear(*bytes, plain_); !heard) return heard.error();
      if (plain_.empty() && tls_->ended()) return Error{"it closed the connection"};
      if (Status sent = send(tls_->take_output(), until); !sent) return sent.error();
    }
    return std::exchange(plain_, {});
  }

 private:
  Status wait_for(short what, Clock::time_point until) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    pollfd one{socket_, what, 0};
    const int ready = poll(&one, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (ready > 0 || (ready < 0 && errno == EINTR)) return Done{};
    return Error{"it took too long"};
  }
  Status send(std::string_view bytes, Clock::time_point until) const {
    while (!bytes.empty()) {
      const ssize_t count =
          ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(count));
      } else if (errno == EAGAIN) {
        if (Status waited = wait_for(POLLOUT, until); !waited) return waited;
      } else if (errno != EINTR) {
        return Error{std::strerror(errno)};
      }
    }
    return Done{};
  }
  Result<std::string> receive(Clock::time_point until) const {
    std::string bytes(64 << 10, '\0');
    while (true) {
      const ssize_t count = recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (count > 0) {
        bytes.resize(static_cast<std::size_t>(count));
        return bytes;
      }
      if (count == 0) return Error{"it closed the connection"};
      if (errno != EAGAIN && errno != EINTR) return Error{std::strerror(errno)};
      if (Status waited = wait_for(POLLIN, until); !waited) return waited.error();
    }
  }

  int socket_ = -1;
  std::unique_ptr<TlsPipe> tls_;
  std::string plain_;
};

class Client final : public HttpClient {
 public:
  Client(ByteLink link, std::string host, std::string token)
      : link_(std::move(link)), host_(std::move(host)), token_(std::move(token)) {}

  Result<HttpResponse> call(std::string_view method, const std::string& target,
                            const std::string& body, std::chrono::seconds limit) override {
    const auto failed = [](const std::string& why) {
      return Error{fmt::format("the daemon did not answer: {}", why)};
    };
    const Clock::time_point until = Clock::now() + limit;
    // A server that refuses may answer before it has read everything.
    const Status sent = link_.write(request_text(method, target, body), until);
    http::response_parser<http::string_body> parser;
    parser.body_limit(std::uint64_t{1} << 30);
    parser.eager(true);
    unread_.clear();
    while (!parser.is_done()) {
      const Result<std::string> bytes = link_.read(until);
      if (!bytes) return failed(sent ? bytes.error().message : sent.error().message);
      unread_ += *bytes;
      BoostCode code;
      unread_.erase(0, parser.put(boost::asio::buffer(unread_), code));
      if (code && code != http::error::need_more) return failed(code.message());
    }
    HttpResponse response;
    response.status = static_cast<int>(parser.get().result_int());
    for (const auto& field : parser.get()) {
      const auto name = field.name_string();
      const auto value = field.value();
      response.headers.emplace_back(std::string(name.data(), name.size()),
                                    std::string(value.data(), value.size()));
    }
    response.body = std::move(parser.get().body());
    return response;
  }

 private:
  std::string request_text(std::string_view method, const std::string& target,
                           const std::string& body) const {
    std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", method, target, host_);
    if (!token_.empty()) text += fmt::format("Authorization: Bearer {}\r\n", token_);
    if (!body.empty()) text += "Content-Type: application/json\r\n";
    if (!body.empty() || method != "GET")
      text += fmt::format("Content-Length: {}\r\n", body.size());
    return text + "\r\n" + body;
  }

  ByteLink link_;
  std::string host_;
  std::string token_;
  std::string unread_;
};

Result<int> connect_tcp(const HostPort& where) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(where.host.c_str(), where.port.c_str(), &hints, &found);
      code != 0) {
    return Error{fmt::format("{}: {}", where.host, gai_strerror(code))};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  int problem = ECONNREFUSED;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const int made = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made >= 0 && connect(made, one->ai_addr, one->ai_addrlen) == 0) return made;
    problem = errno;
    if (made >= 0) close(made);
  }
  return Error{fmt::format("{}:{}: {}", where.host, where.port, std::strerror(problem))};
}

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::connect(const std::filesystem::path& path) {
  const auto failed = [&path] {
    return Error{fmt::format("{}: {}", path.string(), std::strerror(errno))};
  };
  // A state folder may have a longer path than a socket address holds.
  const int place = ::open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (place < 0) return failed();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("/proc/self/fd/{}/{}", place, path.filename().string());
  std::strncpy(address.sun_path, name.c_str(), sizeof address.sun_path - 1);
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ByteLink link(made);
  const int connected =
      ::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int problem = errno;
  ::close(place);
  errno = problem;
  if (connected != 0) return failed();
  return std::unique_ptr<HttpClient>(std::make_unique<Client>(std::move(link), "muster", ""));
}

Result<std::unique_ptr<HttpClient>> HttpClient::connect(const HttpsServer& server) {
  constexpr std::string_view kScheme = "https://";
  std::string_view address = server.url;
  if (!address.starts_with(kScheme)) {
    return Error{fmt::format(
        "'{}': expected https://HOST:PORT; connections without TLS are refused", server.url)};
  }
  address.remove_prefix(kScheme.size());
  if (address.ends_with('/')) address.remove_suffix(1);
  const Result<HostPort> where = parse_host_port(address, "443");
  if (!where) return where.error();
  auto context = TlsContext::client(server.authorities);
  if (!context) return context.error();
  const Result<int> made = connect_tcp(*where);
  if (!made) return made.error();
  ByteLink link(*made);
  const auto until = Clock::now() + std::chrono::seconds(20);
  if (Status begun = link.begin_tls(std::move(*context), where->host, until); !begun) {
    return Error{fmt::format("{}: {}", server.url, begun.error().message)};
  }
  return std::unique_ptr<HttpClient>(
      std::make_unique<Client>(std::move(link), std::string(address), server.token));
}

}  // namespace muster
