// HTTP over a Unix socket, both ends, as plain values. Only http_server.cc and http_client.cc see
// the library (Boost.Beast).
//
// The server parses, bounds what it reads, finds out who is at the other end, and hands requests
// to one handler. The handler must not block; it may answer at once or later, from any thread.
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

namespace muster {

// Who is at the other end, as the kernel says.
struct HttpPeer {
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

  // Listens at a path, in place of a socket that a dead process left there; only our own user and
  // root get in unless `for_all`.
  static Result<std::unique_ptr<HttpServer>> listen(const std::filesystem::path& path, bool for_all,
                                                    HttpLimits limits, HttpHandler handler);
};

// A connection to a server; it stays open over several calls.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  static Result<std::unique_ptr<HttpClient>> connect(const std::filesystem::path& path);
  virtual Result<HttpResponse> call(std::string_view method, const std::string& target,
                                    const std::string& body, std::chrono::seconds limit) = 0;
};

// http_text.cc: targets and their parts.
// "/v1/jobs?state=running" taken apart; false where it is not well-formed.
bool parse_target(std::string_view target, std::string& path,
                  std::map<std::string, std::string>& query);
std::string percent_encoded(std::string_view text);

}  // namespace muster
