#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "daemon/http/http.h"

namespace muster {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::local::stream_protocol;
using Code = boost::system::error_code;

class UnixClient final : public HttpClient {
 public:
  Code open(const std::filesystem::path& path) {
    const int place = ::open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place < 0) return {errno, boost::system::system_category()};
    Code code;
    stream_.socket().connect(fmt::format("/proc/self/fd/{}/{}", place, path.filename().string()),
                             code);
    ::close(place);
    return code;
  }

  Result<HttpResponse> call(std::string_view method, const std::string& target,
                            const std::string& body, std::chrono::seconds limit) override {
    beast::http::request<beast::http::string_body> request;
    request.version(11);
    request.method_string({method.data(), method.size()});
    request.target(target);
    request.set(beast::http::field::host, "muster");
    if (!body.empty()) request.set(beast::http::field::content_type, "application/json");
    request.body() = body;
    request.prepare_payload();
    Code result;
    beast::http::response_parser<beast::http::string_body> parser;
    parser.body_limit(std::uint64_t{1} << 30);
    stream_.expires_after(limit);
    // Asynchronous, because only those calls heed the limit.
    beast::http::async_write(stream_, request, [&](Code code, std::size_t) {
      result = code;
      if (code) return;
      beast::http::async_read(stream_, buffer_, parser,
                              [&result](Code read, std::size_t) { result = read; });
    });
    context_.restart();
    context_.run();
    if (result) {
      return Error{fmt::format("the daemon did not answer: {}", result.message())};
    }
    const auto& message = parser.get();
    HttpResponse response;
    response.status = static_cast<int>(message.result_int());
    response.body = message.body();
    for (const auto& field : message) {
      const auto name = field.name_string();
      const auto value = field.value();
      response.headers.emplace_back(std::string(name.data(), name.size()),
                                    std::string(value.data(), value.size()));
    }
    return response;
  }

 private:
  asio::io_context context_{1};
  beast::basic_stream<stream_protocol> stream_{context_};
  beast::flat_buffer buffer_;
};

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::connect(const std::filesystem::path& path) {
  auto client = std::make_unique<UnixClient>();
  if (const Code code = client->open(path); code) {
    return Error{fmt::format("{}: {}", path.string(), code.message())};
  }
  return std::unique_ptr<HttpClient>(std::move(client));
}

}  // namespace muster
