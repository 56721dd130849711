// The bytes of a trace: a file, standard input, or text in memory; gzip and zstd streams are
// unpacked on the way, recognised by their first bytes and not by a file name.
//
// Use it under a record reader (workload/records.h). For small files that are wanted whole, such as
// cluster files, use read_whole().
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"

namespace muster {

class ByteInput {
 public:
  virtual ~ByteInput() = default;
  // Fills at most `size` bytes and returns how many; 0 at the end. Messages do not name the file.
  virtual Result<std::size_t> read(char* to, std::size_t size) = 0;
  // How many bytes there are in all, where that is known beforehand; else 0. A hint, not a promise.
  virtual std::size_t size_hint() const { return 0; }
};

// Opens a file, or standard input for "-". A tar archive counts as a folder: in
// "traces.tar.gz/cluster01.csv" the second part is a file inside it.
Result<std::unique_ptr<ByteInput>> open_bytes(const std::string& path);

std::unique_ptr<ByteInput> bytes_of(std::string text);

// Unpacks gzip or zstd if that is what `input` holds, else hands its bytes through.
Result<std::unique_ptr<ByteInput>> unpacked(std::unique_ptr<ByteInput> input);

// The whole of a (packed or plain) file of at most `limit` bytes.
Result<std::string> read_whole(const std::string& path, std::size_t limit = std::size_t{64} << 20);

}  // namespace muster
