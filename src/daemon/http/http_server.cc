#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/out_file.h"
#include "daemon/http/http.h"

namespace muster {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
// Of Unix and of TCP: everything below is compiled once.
using Stream = asio::generic::stream_protocol;
using Code = boost::system::error_code;

HttpPeer peer_of(int socket, bool local) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (!local || getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return {false, ~std::uint32_t{0}, 0};  // nobody
  }
  return {true, peer.uid, peer.pid};
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return result;
}

struct Shared {
  HttpLimits limits;
  HttpHandler handler;
  std::shared_ptr<const TlsContext> tls;  // null: a Unix socket
  std::atomic<std::size_t> connections{0};
};

using HttpMessage = beast::http::response<beast::http::string_body>;

// As it goes over the wire.
std::string text_of(HttpMessage& message) {
  std::string text;
  beast::http::response_serializer<beast::http::string_body> serializer(message);
  while (!serializer.is_done()) {
    Code code;
    std::size_t size = 0;
    serializer.next(code, [&](Code&, const auto& buffers) {
      size = beast::buffer_bytes(buffers);
      text += beast::buffers_to_string(buffers);
    });
    if (code) break;
    serializer.consume(size);
  }
  return text;
}

HttpMessage message_of(HttpResponse response, bool keep_alive) {
  HttpMessage message;
  message.version(11);
  message.result(static_cast<unsigned>(response.status));
  message.set(beast::http::field::content_type, response.type);
  for (const auto& [name, value] : response.headers) message.set(name, value);
  message.keep_alive(keep_alive);
  message.body() = std::move(response.body);
  message.prepare_payload();
  return message;
}

// One connection: a request is read, handled and answered, then the next.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Stream::socket socket, std::shared_ptr<Shared> shared)
      : peer_(peer_of(socket.native_handle(), shared->tls == nullptr)),
        stream_(std::move(socket)),
        shared_(std::move(shared)) {
    if (shared_->tls) tls_ = std::make_unique<TlsPipe>(shared_->tls);
    ++shared_->connections;
  }
  ~Session() { --shared_->connections; }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(shared_->limits.header_bytes);
    parser_->body_limit(shared_->limits.body_bytes);
    parser_->eager(true);
    // For the whole request: who sends a byte a minute is cut off, too.
    stream_.expires_after(shared_->limits.idle);
    parse();
  }

 private:
  void parse() {
    Code code;
    if (!unread_.empty()) unread_.erase(0, parser_->put(asio::buffer(unread_), code));
    if (code == beast::http::error::need_more) code = {};
    if (code || parser_->is_done()) return was_read(code);
    stream_.async_read_some(asio::buffer(bytes_),
                            [self = shared_from_this()](Code read, std::size_t count) {
                              if (read) return self->close();
                              self->received({self->bytes_.data(), count});
                            });
  }

  void received(std::string_view bytes) {
    if (!tls_) {
      unread_ += bytes;
      return parse();
    }
    constexpr char kHandshake = 0x16;
    if (!std::exchange(greeted_, true) && bytes[0] != kHandshake) {
      tls_.reset();
      return refuse(400, "this address speaks HTTPS only: begin it with https://");
    }
    const Status heard = tls_->hear(bytes, unread_);
    const bool goes_on = heard && !tls_->ended();
    send(tls_->take_output(), [this, goes_on] { goes_on ? parse() : close(); });
  }

  void was_read(Code code) {
    if (code == beast::http::error::body_limit) return refuse(413, "the request is too large");
    if (code == beast::http::error::header_limit) return refuse(431, "the headers are too large");
    if (code) return refuse(400, "not an HTTP request: " + code.message());
    const auto& message = parser_->get();
    keep_alive_ = message.keep_alive();
    HttpRequest request;
    request.method = std::string(message.method_string());
    const std::string_view target(message.target().data(), message.target().size());
    if (!parse_target(target, request.path, request.query)) {
      return refuse(400, "the target is not well-formed");
    }
    for (const auto& field : message) {
      const auto name = field.name_string();
      const auto value = field.value();
      request.headers[lower({name.data(), name.size()})] = std::string(value.data(), value.size());
    }
    request.body = std::move(parser_->get().body());
    request.peer = peer_;
    // Work may take longer than a client may dawdle.
    stream_.expires_never();
    shared_->handler(std::move(request), [self = shared_from_this()](HttpResponse response) {
      asio::post(self->stream_.get_executor(), [self, answer = std::move(response)]() mutable {
        self->write(std::move(answer));
      });
    });
  }

  void refuse(int status, std::string_view why) {
    keep_alive_ = false;
    HttpResponse response;
    response.status = status;
    response.body = fmt::format("{{\"error\":\"{}\"}}\n", why);
    write(std::move(response));
  }

  void write(HttpResponse response) {
    HttpMessage message = message_of(std::move(response), keep_alive_);
    std::string text = text_of(message);
    if (tls_) {
      if (!tls_->say(text)) return close();
      if (!keep_alive_) tls_->end();
      text = tls_->take_output();
    }
    stream_.expires_after(shared_->limits.idle);
    send(std::move(text), [this] { keep_alive_ ? read() : close(); });
  }

  // Bytes as they are, and then what follows; nothing follows where the connection broke.
  void send(std::string bytes, std::function<void()> then) {
    if (bytes.empty()) return then();
    sending_ = std::move(bytes);
    asio::async_write(stream_, asio::buffer(sending_),
                      [self = shared_from_this(), then = std::move(then)](Code code, std::size_t) {
                        code ? self->close() : then();
                      });
  }

  void close() {
    Code ignored;
    stream_.socket().shutdown(Stream::socket::shutdown_both, ignored);
  }

  HttpPeer peer_;
  beast::basic_stream<Stream> stream_;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<TlsPipe> tls_;
  bool greeted_ = false;
  std::array<char, 16 << 10> bytes_;
  std::string unread_;
  std::string sending_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  bool keep_alive_ = false;
};

class Server final : public HttpServer {
 public:
  Server(HttpLimits limits, HttpHandler handler, std::shared_ptr<const TlsContext> tls)
      : acceptor_(context_), pause_(context_) {
    shared_->limits = limits;
    shared_->handler = std::move(handler);
    shared_->tls = std::move(tls);
  }
  ~Server() override { stop(); }

  void stop() override {
    if (!thread_.joinable()) return;
    context_.stop();
    thread_.join();
    if (!path_.empty()) unlink(path_.c_str());
  }
  const std::string& address() const override { return address_; }

  Status open_path(const std::filesystem::path& path, bool for_all) {
    address_ = path.string();
    unlink(path.c_str());
    // A state folder may have a longer path than a socket address holds.
    const int place = ::open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place < 0) return file_error("open", path.parent_path().string(), errno);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text = fmt::format("/proc/self/fd/{}/{}", place, path.filename().string());
    std::strncpy(name.sun_path, text.c_str(), sizeof name.sun_path - 1);
    Status bound = bind_to(AF_UNIX, reinterpret_cast<const sockaddr*>(&name), sizeof name);
    ::close(place);
    if (!bound) return bound;
    path_ = path;
    // Before anybody can connect.
    if (chmod(path.c_str(), for_all ? 0666 : 0600) != 0) {
      return file_error("set the permissions of", path.string(), errno);
    }
    return begin();
  }

  Status open_address(const std::string& address) {
    address_ = address;
    const Result<HostPort> where = parse_host_port(address);
    if (!where) return where.error();
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    if (const int code = getaddrinfo(where->host.c_str(), where->port.c_str(), &hints, &found);
        code != 0) {
      return Error{fmt::format("cannot listen at {}: {}", address, gai_strerror(code))};
    }
    Status bound = bind_to(found->ai_family, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    if (!bound) return bound;
    if (where->port == "0") name_the_port(where->host);
    return begin();
  }

 private:
  Status bind_to(int family, const sockaddr* name, socklen_t size) {
    const int made = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    if (family != AF_UNIX) setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (made < 0 || ::bind(made, name, size) != 0) {
      const Error error{fmt::format("cannot listen at {}: {}", address_, std::strerror(errno))};
      if (made >= 0) ::close(made);
      return error;
    }
    acceptor_.assign(Stream(family, 0), made);
    return Done{};
  }

  void name_the_port(const std::string& host) {
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    getsockname(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&name), &size);
    const std::uint16_t port = name.ss_family == AF_INET6
                                   ? reinterpret_cast<sockaddr_in6&>(name).sin6_port
                                   : reinterpret_cast<sockaddr_in&>(name).sin_port;
    address_ = fmt::format("{}:{}", host, ntohs(port));
  }

  Status begin() {
    Code code;
    acceptor_.listen(asio::socket_base::max_listen_connections, code);
    if (code) return Error{fmt::format("cannot listen at {}: {}", address_, code.message())};
    accept();
    thread_ = std::thread([this] { context_.run(); });
    return Done{};
  }

  void accept() {
    acceptor_.async_accept(context_, [this](Code code, Stream::socket socket) {
      if (code == asio::error::operation_aborted) return;
      if (!code && shared_->connections < shared_->limits.connections) {
        const int yes = 1;  // answers are short, and the caller waits for them
        if (shared_->tls) {
          setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        }
        std::make_shared<Session>(std::move(socket), shared_)->read();
      }
      if (!code) return accept();
      // Out of descriptors: connections that end will give some back.
      pause_.expires_after(std::chrono::milliseconds(50));
      pause_.async_wait([this](Code stopped) {
        if (!stopped) accept();
      });
    });
  }

  std::filesystem::path path_;
  std::string address_;
  // Sessions go on in handlers of the context and in answers that are still to come.
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  asio::io_context context_{1};
  asio::basic_socket_acceptor<Stream> acceptor_;
  asio::steady_timer pause_;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const std::filesystem::path& path,
                                                       bool for_all, HttpLimits limits,
                                                       HttpHandler handler) {
  auto server = std::make_unique<Server>(limits, std::move(handler), nullptr);
  if (Status open = server->open_path(path, for_all); !open) return open.error();
  return std::unique_ptr<HttpServer>(std::move(server));
}

Result<std::unique_ptr<HttpServer>> HttpServer::listen_tls(
    const std::string& address, std::shared_ptr<const TlsContext> context, HttpLimits limits,
    HttpHandler handler) {
  auto server = std::make_unique<Server>(limits, std::move(handler), std::move(context));
  if (Status open = server->open_address(address); !open) return open.error();
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace muster
