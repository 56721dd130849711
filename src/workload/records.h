// Cuts a byte stream into records: lines, or the objects of a JSON array. Memory is bounded by the
// longest record, and a record longer than kLongestRecord is refused: it means that the input is no
// trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/byte_input.h"

namespace muster {

inline constexpr std::size_t kLongestRecord = std::size_t{16} << 20;

// A window over the stream that slides forward and can be made longer.
class InputWindow {
 public:
  explicit InputWindow(std::unique_ptr<ByteInput> input) : input_(std::move(input)) {}

  // Bytes that were read and not yet consumed; stable until the next call of more() or consume().
  std::string_view unread() const { return {bytes_.data() + begin_, end_ - begin_}; }
  // Reads further bytes behind unread(). False at the end of the input, or on an error.
  bool more();
  void consume(std::size_t count) { begin_ += count; }
  // As many bytes from the present position as can be had, up to `size`: for looking ahead.
  std::string_view ahead(std::size_t size);
  const std::optional<Error>& error() const { return error_; }
  std::size_t size_hint() const { return input_->size_hint(); }

 private:
  std::unique_ptr<ByteInput> input_;
  std::vector<char> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::optional<Error> error_;
};

class RecordReader {
 public:
  virtual ~RecordReader() = default;
  // The next record, stable until the call after; false at the end, or on an error.
  virtual bool next(std::string_view& record) = 0;
  // The line on which the last record began, from 1.
  virtual std::uint64_t line() const = 0;
  virtual const std::optional<Error>& error() const = 0;
};

// Lines without their ends ("\n" or "\r\n"); a byte-order mark at the very beginning is dropped.
std::unique_ptr<RecordReader> make_line_reader(InputWindow window);

// The records of `lines`, where lines that do not begin one belong to the one before; the first is
// the header.
std::unique_ptr<RecordReader> make_joined_reader(std::unique_ptr<RecordReader> lines,
                                                 bool (*begins)(std::string_view header,
                                                                std::string_view line));

// The objects of an array, or of several, or objects one after another ("JSON lines").
std::unique_ptr<RecordReader> make_json_reader(InputWindow window);

}  // namespace muster
