// SHA-256 of files, for comparing downloads with published checksums.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

// In lower-case hexadecimal digits.
std::string sha256_of(std::string_view bytes);
Result<std::string> sha256_of_file(const std::string& path);

}  // namespace muster
