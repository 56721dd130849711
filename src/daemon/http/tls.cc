#include "daemon/http/tls.h"

#include <algorithm>
#include <array>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/shared_library.h"

namespace muster {
namespace {

struct TlsCrypto {
  SharedLibrary library{{"libcrypto.so.3"}, "libssl3"};
  MUSTER_LOADED(BIO_new);
  MUSTER_LOADED(BIO_s_mem);
  MUSTER_LOADED(BIO_read);
  MUSTER_LOADED(BIO_write);
  MUSTER_LOADED(BIO_ctrl_pending);
  MUSTER_LOADED(ERR_get_error);
  MUSTER_LOADED(ERR_clear_error);
  MUSTER_LOADED(ERR_reason_error_string);
  MUSTER_LOADED(X509_verify_cert_error_string);
  MUSTER_LOADED(X509_VERIFY_PARAM_set1_ip_asc);
};

struct Tls {
  SharedLibrary library{{"libssl.so.3"}, "libssl3"};
  MUSTER_LOADED(TLS_server_method);
  MUSTER_LOADED(TLS_client_method);
  MUSTER_LOADED(SSL_CTX_new);
  MUSTER_LOADED(SSL_CTX_free);
  MUSTER_LOADED(SSL_CTX_ctrl);
  MUSTER_LOADED(SSL_CTX_use_certificate_chain_file);
  MUSTER_LOADED(SSL_CTX_use_PrivateKey_file);
  MUSTER_LOADED(SSL_CTX_set_default_passwd_cb);
  MUSTER_LOADED(SSL_CTX_load_verify_locations);
  MUSTER_LOADED(SSL_CTX_set_default_verify_paths);
  MUSTER_LOADED(SSL_CTX_set_verify);
  MUSTER_LOADED(SSL_new);
  MUSTER_LOADED(SSL_free);
  MUSTER_LOADED(SSL_ctrl);
  MUSTER_LOADED(SSL_set_bio);
  MUSTER_LOADED(SSL_set_accept_state);
  MUSTER_LOADED(SSL_set_connect_state);
  MUSTER_LOADED(SSL_set1_host);
  MUSTER_LOADED(SSL_get0_param);
  MUSTER_LOADED(SSL_get_verify_result);
  MUSTER_LOADED(SSL_do_handshake);
  MUSTER_LOADED(SSL_is_init_finished);
  MUSTER_LOADED(SSL_read);
  MUSTER_LOADED(SSL_write);
  MUSTER_LOADED(SSL_shutdown);
  MUSTER_LOADED(SSL_get_error);
};

const TlsCrypto& tls_crypto() {
  static const TlsCrypto table;
  return table;
}
const Tls& tls() {
  static const Tls table;
  return table;
}

// The first complaint of OpenSSL; the others are dropped.
std::string complaint() {
  const unsigned long code = tls_crypto().ERR_get_error();
  tls_crypto().ERR_clear_error();
  const char* words = code == 0 ? nullptr : tls_crypto().ERR_reason_error_string(code);
  return words == nullptr ? "the other end broke off" : words;
}

// A key with a password would be asked for at a terminal that a daemon does not have.
int no_password(char*, int, int, void*) { return 0; }

Result<ssl_ctx_st*> new_context(bool server) {
  try {
    tls_crypto().ERR_clear_error();
    SSL_CTX* made =
        tls().SSL_CTX_new(server ? tls().TLS_server_method() : tls().TLS_client_method());
    if (made == nullptr) return Error{fmt::format("cannot use TLS: {}", complaint())};
    tls().SSL_CTX_ctrl(made, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
    return made;
  } catch (const MissingLibrary& missing) {
    return Error{missing.what()};
  }
}

}  // namespace

TlsContext::~TlsContext() { tls().SSL_CTX_free(handle_); }

Result<std::shared_ptr<const TlsContext>> TlsContext::server(
    const std::filesystem::path& certificate, const std::filesystem::path& key) {
  struct stat about {};
  if (stat(key.c_str(), &about) == 0 && (about.st_mode & 07U) != 0) {
    return Error{
        fmt::format("{}: other users may read this key; run chmod 600 on it", key.string())};
  }
  Result<ssl_ctx_st*> made = new_context(true);
  if (!made) return made.error();
  std::shared_ptr<const TlsContext> context(new TlsContext(*made));
  tls().SSL_CTX_set_default_passwd_cb(*made, no_password);
  if (tls().SSL_CTX_use_certificate_chain_file(*made, certificate.c_str()) != 1) {
    return Error{fmt::format("{}: no certificate in PEM: {}", certificate.string(), complaint())};
  }
  if (tls().SSL_CTX_use_PrivateKey_file(*made, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Error{fmt::format("{}: not the key of {}, in PEM and without a password: {}",
                             key.string(), certificate.string(), complaint())};
  }
  return context;
}

Result<std::shared_ptr<const TlsContext>> TlsContext::client(
    const std::filesystem::path& authorities) {
  Result<ssl_ctx_st*> made = new_context(false);
  if (!made) return made.error();
  std::shared_ptr<const TlsContext> context(new TlsContext(*made));
  if (authorities.empty()) {
    tls().SSL_CTX_set_default_verify_paths(*made);
  } else if (tls().SSL_CTX_load_verify_locations(*made, authorities.c_str(), nullptr) != 1) {
    return Error{fmt::format("{}: no certificates in PEM: {}", authorities.string(), complaint())};
  }
  tls().SSL_CTX_set_verify(*made, SSL_VERIFY_PEER, nullptr);
  return context;
}

TlsPipe::TlsPipe(std::shared_ptr<const TlsContext> context, const std::string& host)
    : context_(std::move(context)),
      session_(tls().SSL_new(context_->handle())),
      in_(tls_crypto().BIO_new(tls_crypto().BIO_s_mem())),
      out_(tls_crypto().BIO_new(tls_crypto().BIO_s_mem())) {
  tls().SSL_set_bio(session_, in_, out_);
  if (host.empty()) {
    tls().SSL_set_accept_state(session_);
    return;
  }
  tls().SSL_set_connect_state(session_);
  // A number is looked for among the certificate's numbers, a name among its names.
  if (tls_crypto().X509_VERIFY_PARAM_set1_ip_asc(tls().SSL_get0_param(session_), host.c_str()) !=
      1) {
    tls_crypto().ERR_clear_error();
    tls().SSL_set1_host(session_, host.c_str());
    std::string name = host;
    tls().SSL_ctrl(session_, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
  }
  tls().SSL_do_handshake(session_);  // begins it
}

TlsPipe::~TlsPipe() { tls().SSL_free(session_); }

bool TlsPipe::ready() const { return tls().SSL_is_init_finished(session_) == 1; }

Status TlsPipe::hear(std::string_view bytes, std::string& plain) {
  tls_crypto().ERR_clear_error();
  tls_crypto().BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
  std::array<char, 16 << 10> buffer;
  while (true) {
    const int count = tls().SSL_read(session_, buffer.data(), static_cast<int>(buffer.size()));
    if (count > 0) {
      plain.append(buffer.data(), static_cast<std::size_t>(count));
      continue;
    }
    const int problem = tls().SSL_get_error(session_, count);
    if (problem == SSL_ERROR_WANT_READ || problem == SSL_ERROR_WANT_WRITE) return Done{};
    ended_ = true;
    if (problem == SSL_ERROR_ZERO_RETURN) return Done{};
    const long verified = tls().SSL_get_verify_result(session_);
    if (verified != X509_V_OK) {
      tls_crypto().ERR_clear_error();
      return Error{fmt::format("its certificate is not trusted: {}",
                               tls_crypto().X509_verify_cert_error_string(verified))};
    }
    return Error{complaint()};
  }
}

Status TlsPipe::say(std::string_view plain) {
  tls_crypto().ERR_clear_error();
  while (!plain.empty()) {
    const auto some = static_cast<int>(std::min<std::size_t>(plain.size(), 1 << 20));
    const int count = tls().SSL_write(session_, plain.data(), some);
    if (count <= 0) return Error{complaint()};
    plain.remove_prefix(static_cast<std::size_t>(count));
  }
  return Done{};
}

void TlsPipe::end() { tls().SSL_shutdown(session_); }

std::string TlsPipe::take_output() {
  std::string bytes(tls_crypto().BIO_ctrl_pending(out_), '\0');
  if (!bytes.empty()) {
    tls_crypto().BIO_read(out_, bytes.data(), static_cast<int>(bytes.size()));
  }
  return bytes;
}

}  // namespace muster
