// The output of one rank of a launch, as one stream of bytes over the files that the keeper rotates
// (agent/keeper/log_file.h). It is read while it is written: positions in it do not change when a
// file becomes NAME.1, and the number of dropped bytes is known.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace muster {

struct LogPart {
  std::int64_t begin = 0;  // place of its first byte: later than asked for where that is gone
  std::string text;        // empty: there is nothing (yet) at that place

  std::int64_t end() const { return begin + static_cast<std::int64_t>(text.size()); }
};

// At most `most` bytes from `offset` on. `path` is the file that is written to.
LogPart read_rank_log(const std::filesystem::path& path, std::int64_t offset, std::size_t most);

}  // namespace muster
