#include "workload/data/sha256.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <openssl/evp.h>
#include <vector>

#include <fmt/format.h>

#include "base/shared_library.h"

namespace muster {
namespace {

struct Crypto {
  SharedLibrary library{{"libcrypto.so.3"}, "libssl3"};
  MUSTER_LOADED(EVP_MD_CTX_new);
  MUSTER_LOADED(EVP_MD_CTX_free);
  MUSTER_LOADED(EVP_sha256);
  MUSTER_LOADED(EVP_DigestInit_ex);
  MUSTER_LOADED(EVP_DigestUpdate);
  MUSTER_LOADED(EVP_DigestFinal_ex);
};

const Crypto& crypto() {
  static const Crypto table;
  return table;
}

class Sha256 {
 public:
  Sha256() : context_(crypto().EVP_MD_CTX_new()) {
    crypto().EVP_DigestInit_ex(context_.get(), crypto().EVP_sha256(), nullptr);
  }

  void add(const void* bytes, std::size_t size) {
    crypto().EVP_DigestUpdate(context_.get(), bytes, size);
  }

  std::string text() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    crypto().EVP_DigestFinal_ex(context_.get(), digest, &size);
    std::string text;
    for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { crypto().EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace

std::string sha256_of(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes.data(), bytes.size());
  return sum.text();
}

Result<std::string> sha256_of_file(const std::string& path) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) return Error{fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
  Sha256 sum;
  std::vector<char> block(kBlock);
  while (const std::size_t size = std::fread(block.data(), 1, block.size(), file.get())) {
    sum.add(block.data(), size);
  }
  if (std::ferror(file.get()) != 0) {
    return Error{fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
  }
  return sum.text();
}

}  // namespace muster
