// The HTTP server against an honest client, and against bytes that no client would send.
#include "daemon/http/http.h"

#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpTest : public ::testing::Test {
 protected:
  HttpTest() {
    HttpLimits limits;
    limits.body_bytes = 1000;
    limits.connections = 20;
    auto made = HttpServer::listen(
        path_, false, limits, [this](const HttpRequest& request, const HttpReply& reply) {
          HttpResponse response;
          response.type = "text/plain";
          response.body = request.method + " " + request.path + " " + request.body;
          for (const auto& [name, value] : request.query) {
            response.body += fmt::format(" {}={}", name, value);
          }
          if (request.path == "/late") {
            const std::lock_guard lock(mutex_);
            late_.emplace_back([reply, response] { reply(response); });
          } else {
            reply(response);
          }
        });
    EXPECT_TRUE(made) << made.error().message;
    server_ = std::move(*made);
  }

  // A server outlives everybody who may still answer.
  ~HttpTest() override {
    const std::lock_guard lock(mutex_);
    for (std::thread& thread : late_) thread.join();
  }

  // Sends bytes as they are; what the server answers until it closes, or a while has passed.
  std::string raw(const std::string& bytes) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    timeval limit{0, 300'000};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    std::string answer;
    char buffer[4096];
    ssize_t count = 0;
    while ((count = read(socket, buffer, sizeof buffer)) > 0) answer.append(buffer, count);
    close(socket);
    return answer;
  }
  std::unique_ptr<HttpClient> client() {
    auto made = HttpClient::connect(path_);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "api.sock";
  std::unique_ptr<HttpServer> server_;
  std::mutex mutex_;
  std::vector<std::thread> late_;
};

TEST_F(HttpTest, CallsAreAnsweredOnOneConnection) {
  const auto link = client();
  for (int i = 0; i < 3; ++i) {
    const auto answer = link->call("POST", "/a%20b?x=1&y=%26", "body", std::chrono::seconds(5));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "POST /a b body x=1 y=&");
  }
  const auto late = link->call("GET", "/late", "", std::chrono::seconds(5));
  ASSERT_TRUE(late);
  EXPECT_EQ(late->body, "GET /late ");
}

TEST_F(HttpTest, TooMuchIsRefused) {
  const auto answer = client()->call("POST", "/x", std::string(1001, 'x'), std::chrono::seconds(5));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 413);
  EXPECT_THAT(raw("GET / HTTP/1.1\r\nA: " + std::string(20'000, 'x') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431"));
}

TEST_F(HttpTest, WhatIsNoHttpIsRefused) {
  for (const char* bytes :
       {"hello\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /%zz HTTP/1.1\r\n\r\n",
        "GET /%00 HTTP/1.1\r\n\r\n", "GET /a?x=1&x=2 HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"}) {
    EXPECT_THAT(raw(bytes), StartsWith("HTTP/1.1 400")) << bytes;
  }
}

TEST_F(HttpTest, RandomBytesDoNoHarm) {
  Random random(1, "http bytes");
  for (int i = 0; i < 30; ++i) {
    std::string bytes = random.chance(0.5) ? "POST /v1/jobs HTTP/1.1\r\nContent-Length: 9\r\n" : "";
    for (std::uint64_t n = random.below(300); n > 0; --n) {
      bytes += static_cast<char>(random.below(256));
    }
    bytes += "\r\n\r\n\r\n";
    const int before = static_cast<int>(raw(bytes).size());
    EXPECT_GE(before, 0);
  }
  EXPECT_TRUE(client()->call("GET", "/", "", std::chrono::seconds(5)));
}

TEST_F(HttpTest, ConnectionsAreBounded) {
  std::vector<std::unique_ptr<HttpClient>> many;
  many.reserve(40);
  for (int i = 0; i < 40; ++i) many.push_back(client());
  int answered = 0;
  for (const auto& one : many) {
    answered += one->call("GET", "/", "", std::chrono::seconds(2)) ? 1 : 0;
  }
  EXPECT_EQ(answered, 20);
  many.clear();
  EXPECT_TRUE(client()->call("GET", "/", "", std::chrono::seconds(5)));
}

}  // namespace
}  // namespace muster
