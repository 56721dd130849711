// TLS without sockets: bytes of the network go in and come out on one side, those of the
// application on the other. OpenSSL is loaded when the first object is made, because most commands
// never need it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct ssl_ctx_st;
struct ssl_st;
struct bio_st;

namespace muster {

// What all connections of one end have in common. TLS 1.2 and later.
class TlsContext {
 public:
  // Shows the certificate (with its chain, in PEM) to clients.
  static Result<std::shared_ptr<const TlsContext>> server(const std::filesystem::path& certificate,
                                                          const std::filesystem::path& key);
  // Trusts servers that are vouched for by the authorities in the file; empty: by the system's.
  static Result<std::shared_ptr<const TlsContext>> client(const std::filesystem::path& authorities);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  ssl_ctx_st* handle() const { return handle_; }

 private:
  explicit TlsContext(ssl_ctx_st* handle) : handle_(handle) {}
  ssl_ctx_st* handle_;
};

class TlsPipe {
 public:
  // The server's end; or with a host the end of a client that wants to talk to that host alone.
  explicit TlsPipe(std::shared_ptr<const TlsContext> context, const std::string& host = {});
  ~TlsPipe();
  TlsPipe(const TlsPipe&) = delete;
  TlsPipe& operator=(const TlsPipe&) = delete;

  // Takes bytes of the network in, and appends what they say to `plain`. An error ends it.
  Status hear(std::string_view bytes, std::string& plain);
  // For the other end; only once the handshake is done.
  Status say(std::string_view plain);
  // That nothing more will be said.
  void end();
  // Bytes for the network that have gathered.
  std::string take_output();

  bool ready() const;  // the handshake is done
  bool ended() const { return ended_; }

 private:
  std::shared_ptr<const TlsContext> context_;
  ssl_st* session_ = nullptr;
  bio_st* in_ = nullptr;  // both belong to the session
  bio_st* out_ = nullptr;
  bool ended_ = false;
};

}  // namespace muster
