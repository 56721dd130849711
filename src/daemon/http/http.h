// HTTP over a Unix socket, or over TCP (always with TLS), both ends, as plain values. Only
// http_server.cc and http_client.cc see the library (Boost.Beast), and tls.cc OpenSSL.
//
// The server parses, bounds what it reads, identifies the caller, and passes requests to one
// handler. The handler must not block; it may answer at once or later, from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "daemon/http/tls.h"

namespace muster {

// Who is at the other end: of a Unix socket, as the kernel says. Of the network nothing is known.
struct HttpPeer {
  bool local = true;
  std::uint32_t user = 0;
  std::int32_t process = 0;
};

struct HttpRequest {
  std::string method;
  std::string path;                            // decoded, without the query
  std::map<std::string, std::string> query;    // decoded
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  HttpPeer peer;
};

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
};

using HttpReply = std::function<void(HttpResponse)>;
using HttpHandler = std::function<void(HttpRequest, HttpReply)>;

struct HttpLimits {
  std::uint32_t header_bytes = 16 << 10;
  std::uint64_t body_bytes = 1 << 20;
  std::size_t connections = 1000;
  std::chrono::seconds idle{60};  // a connection without a whole request for so long is closed
};

class HttpServer {
 public:
  virtual ~HttpServer() = default;
  // No more requests; answers that come later go nowhere. The server must outlive them all the
  // same.
  virtual void stop() = 0;
  // Where it listens: a path, or HOST:PORT with the port that it got.
  virtual const std::string& address() const = 0;

  // Listens at a path, in place of a socket that a dead process left there; only our own user and
  // root get in unless `for_all`.
  static Result<std::unique_ptr<HttpServer>> listen(const std::filesystem::path& path, bool for_all,
                                                    HttpLimits limits, HttpHandler handler);
  // At HOST:PORT, with TLS; port 0 takes a free one. Who speaks plain HTTP there is told so.
  static Result<std::unique_ptr<HttpServer>> listen_tls(const std::string& address,
                                                        std::shared_ptr<const TlsContext> context,
                                                        HttpLimits limits, HttpHandler handler);
};

// A server on the network, and who we are there.
struct HttpsServer {
  std::string url;                    // https://HOST[:PORT]
  std::string token;                  // sent with every request
  std::filesystem::path authorities;  // who vouches for its certificate; empty: the system's
};

// A connection to a server; it stays open over several calls.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  static Result<std::unique_ptr<HttpClient>> connect(const std::filesystem::path& path);
  static Result<std::unique_ptr<HttpClient>> connect(const HttpsServer& server);
  virtual Result<HttpResponse> call(std::string_view method, const std::string& target,
                                    const std::string& body, std::chrono::seconds limit) = 0;
};

// http_text.cc: addresses, targets and their parts.
// "HOST:PORT", with brackets around an IPv6 host; the error says what is wrong with it.
struct HostPort {
  std::string host;
  std::string port;
};
Result<HostPort> parse_host_port(std::string_view text, std::string_view usual_port = {});
// "/v1/jobs?state=running" taken apart; false where it is not well-formed.
bool parse_target(std::string_view target, std::string& path,
                  std::map<std::string, std::string>& query);
std::string percent_encoded(std::string_view text);

}  // namespace muster
