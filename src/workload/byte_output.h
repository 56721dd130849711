// Writing files that are whole or not there: bytes go to a file of another name, which takes its
// real one when everything is on it. A name that ends in .gz or .zst is packed on the way; "-" is
// standard output.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

class ByteOutput {
 public:
  // Dropping one that was not finished removes what it had written.
  virtual ~ByteOutput() = default;
  virtual Status write(std::string_view bytes) = 0;
  virtual Status finish() = 0;
};

Result<std::unique_ptr<ByteOutput>> create_bytes(const std::string& path);

}  // namespace muster
