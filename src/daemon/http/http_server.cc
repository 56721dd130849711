#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/out_file.h"
#include "daemon/http/http.h"

namespace muster {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::local::stream_protocol;
using Code = boost::system::error_code;

HttpPeer peer_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return {~std::uint32_t{0}, 0};  // nobody
  }
  return {peer.uid, peer.pid};
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
  std::atomic<std::size_t> connections{0};
};

// One connection: a request is read, handled and answered, then the next.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(stream_protocol::socket socket, std::shared_ptr<Shared> shared)
      : peer_(peer_of(socket.native_handle())),
        stream_(std::move(socket)),
        shared_(std::move(shared)) {
    ++shared_->connections;
  }
  ~Session() { --shared_->connections; }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(shared_->limits.header_bytes);
    parser_->body_limit(shared_->limits.body_bytes);
    stream_.expires_after(shared_->limits.idle);
    beast::http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](Code code, std::size_t) { self->was_read(code); });
  }

 private:
  void was_read(Code code) {
    if (code == beast::http::error::end_of_stream || code == beast::error::timeout) return close();
    if (code == beast::http::error::body_limit) return refuse(413, "the request is too large");
    if (code == beast::http::error::header_limit) return refuse(431, "the headers are too large");
    if (code) {
      // What is no HTTP gets an answer; a connection that broke cannot.
      const bool ours = code.category() ==
                        beast::http::make_error_code(beast::http::error::bad_method).category();
      return ours ? refuse(400, "not an HTTP request: " + code.message()) : close();
    }
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
    auto message = std::make_shared<beast::http::response<beast::http::string_body>>();
    message->version(11);
    message->result(static_cast<unsigned>(response.status));
    message->set(beast::http::field::content_type, response.type);
    for (const auto& [name, value] : response.headers) message->set(name, value);
    message->keep_alive(keep_alive_);
    message->body() = std::move(response.body);
    message->prepare_payload();
    stream_.expires_after(shared_->limits.idle);
    beast::http::async_write(stream_, *message,
                             [self = shared_from_this(), message](Code code, std::size_t) {
                               if (code || !self->keep_alive_) return self->close();
                               self->read();
                             });
  }

  void close() {
    Code ignored;
    stream_.socket().shutdown(stream_protocol::socket::shutdown_both, ignored);
  }

  HttpPeer peer_;
  beast::basic_stream<stream_protocol> stream_;
  std::shared_ptr<Shared> shared_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  bool keep_alive_ = false;
};

class UnixServer final : public HttpServer {
 public:
  UnixServer(std::filesystem::path path, HttpLimits limits, HttpHandler handler)
      : path_(std::move(path)), acceptor_(context_), pause_(context_) {
    shared_->limits = limits;
    shared_->handler = std::move(handler);
  }
  ~UnixServer() override { stop(); }

  void stop() override {
    if (!thread_.joinable()) return;
    context_.stop();
    thread_.join();
    unlink(path_.c_str());
  }

  Status open(bool for_all) {
    unlink(path_.c_str());
    // A state folder may have a longer path than a socket address holds.
    const int place = ::open(path_.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place < 0) return file_error("open", path_.parent_path().string(), errno);
    const std::string name = fmt::format("/proc/self/fd/{}/{}", place, path_.filename().string());
    Code code;
    acceptor_.open(stream_protocol(), code);
    if (!code) acceptor_.bind(stream_protocol::endpoint(name), code);
    ::close(place);
    // Before anybody can connect.
    if (!code && chmod(path_.c_str(), for_all ? 0666 : 0600) != 0) {
      return file_error("set the permissions of", path_.string(), errno);
    }
    if (!code) acceptor_.listen(asio::socket_base::max_listen_connections, code);
    if (code) return Error{fmt::format("cannot listen at {}: {}", path_.string(), code.message())};
    accept();
    thread_ = std::thread([this] { context_.run(); });
    return Done{};
  }

 private:
  void accept() {
    acceptor_.async_accept(context_, [this](Code code, stream_protocol::socket socket) {
      if (code == asio::error::operation_aborted) return;
      if (!code && shared_->connections < shared_->limits.connections) {
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
  // Sessions go on in handlers of the context and in answers that are still to come.
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  asio::io_context context_{1};
  stream_protocol::acceptor acceptor_;
  asio::steady_timer pause_;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const std::filesystem::path& path,
                                                       bool for_all, HttpLimits limits,
                                                       HttpHandler handler) {
  auto server = std::make_unique<UnixServer>(path, limits, std::move(handler));
  if (Status open = server->open(for_all); !open) return open.error();
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace muster
