#include "workload/records.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <fmt/format.h>

namespace muster {
namespace {

// A window begins small, for small files, and grows to read large ones in large pieces.
constexpr std::size_t kSmallWindow = std::size_t{1} << 14;
constexpr std::size_t kLargeWindow = std::size_t{1} << 19;

Error too_long(std::uint64_t line) {
  return Error{
      fmt::format("the record that begins on line {} is longer than {} MiB; this is not a trace",
                  line, kLongestRecord >> 20)};
}

class LineReader final : public RecordReader {
 public:
  explicit LineReader(InputWindow window) : window_(std::move(window)) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (window_.ahead(kByteOrderMark.size()).starts_with(kByteOrderMark)) {
      window_.consume(kByteOrderMark.size());
    }
  }

  bool next(std::string_view& record) override {
    window_.consume(taken_);
    taken_ = 0;
    std::size_t searched = 0;
    while (true) {
      const std::string_view unread = window_.unread();
      const void* found = searched == unread.size() ? nullptr
                                                    : std::memchr(unread.data() + searched, '\n',
                                                                  unread.size() - searched);
      if (found != nullptr) {
        const auto length =
            static_cast<std::size_t>(static_cast<const char*>(found) - unread.data());
        return take(record, unread.substr(0, length), length + 1);
      }
      searched = unread.size();
      if (searched > kLongestRecord) {
        error_ = too_long(line_ + 1);
        return false;
      }
      if (!window_.more()) break;
    }
    if (window_.error()) {
      error_ = window_.error();
      return false;
    }
    const std::string_view rest = window_.unread();
    return !rest.empty() && take(record, rest, rest.size());
  }

  std::uint64_t line() const override { return line_; }
  const std::optional<Error>& error() const override { return error_; }

 private:
  bool take(std::string_view& record, std::string_view line, std::size_t length) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    record = line;
    taken_ = length;
    ++line_;
    return true;
  }

  InputWindow window_;
  std::size_t taken_ = 0;
  std::uint64_t line_ = 0;
  std::optional<Error> error_;
};

class JoinedReader final : public RecordReader {
 public:
  using Begins = bool (*)(std::string_view header, std::string_view line);
  JoinedReader(std::unique_ptr<RecordReader> lines, Begins begins)
      : lines_(std::move(lines)), begins_(begins) {}

  bool next(std::string_view& record) override {
    if (!ahead_ && !look()) return false;
    record_.swap(next_);
    line_ = next_line_;
    if (header_.empty()) header_ = record_;
    while (look() && !begins_(header_, next_)) {
      record_ += '\n';
      record_ += next_;
      if (record_.size() > kLongestRecord) {
        error_ = too_long(line_);
        return false;
      }
    }
    record = record_;
    return true;
  }

  std::uint64_t line() const override { return line_; }
  const std::optional<Error>& error() const override {
    return error_ || ahead_ ? error_ : lines_->error();
  }

 private:
  // Reads the line after the record.
  bool look() {
    std::string_view line;
    ahead_ = lines_->next(line);
    if (ahead_) next_.assign(line);
    next_line_ = lines_->line();
    return ahead_;
  }

  std::unique_ptr<RecordReader> lines_;
  Begins begins_;
  std::string header_;
  std::string record_;
  std::string next_;  // the line after it
  bool ahead_ = false;
  std::uint64_t line_ = 0;
  std::uint64_t next_line_ = 0;
  std::optional<Error> error_;
};

// Finds objects by counting braces outside strings; whether their inside is proper JSON is for the
// parser to say.
class JsonReader final : public RecordReader {
 public:
  explicit JsonReader(InputWindow window) : window_(std::move(window)) {}

  bool next(std::string_view& record) override {
    if (error_) return false;
    consume(taken_);
    taken_ = 0;
    if (!find_object()) return false;
    line_ = next_line_;
    std::size_t at = 0;
    int depth = 0;
    bool in_string = false;
    while (true) {
      const std::string_view unread = window_.unread();
      for (; at < unread.size(); ++at) {
        const char c = unread[at];
        if (in_string) {
          if (c == '\\') {
            // The escaped byte may not have been read yet: step over it next time.
            if (at + 1 == unread.size()) break;
            ++at;
          } else if (c == '"') {
            in_string = false;
          }
        } else if (c == '"') {
          in_string = true;
        } else if (c == '{') {
          ++depth;
        } else if (c == '}' && --depth == 0) {
          taken_ = at + 1;
          record = unread.substr(0, taken_);
          return true;
        }
      }
      if (at > kLongestRecord) {
        error_ = too_long(line_);
        return false;
      }
      if (!window_.more()) {
        error_ = window_.error()
                     ? *window_.error()
                     : Error{fmt::format("the JSON object that begins on line {} is never "
                                         "closed: the file is cut short",
                                         line_)};
        return false;
      }
    }
  }

  std::uint64_t line() const override { return line_; }
  const std::optional<Error>& error() const override { return error_; }

 private:
  // Steps over what may stand between the objects of an array.
  bool find_object() {
    while (true) {
      const std::string_view unread = window_.unread();
      const std::size_t at = unread.find_first_not_of(" \t\r\n,[]");
      if (at != std::string_view::npos) {
        consume(at);
        if (unread[at] == '{') return true;
        error_ = Error{fmt::format("line {}: found '{}', expected the '{{' of a JSON object",
                                   next_line_, unread[at])};
        return false;
      }
      consume(unread.size());
      if (!window_.more()) {
        error_ = window_.error();
        return false;
      }
    }
  }
  void consume(std::size_t count) {
    const std::string_view passed = window_.unread().substr(0, count);
    next_line_ += static_cast<std::uint64_t>(std::count(passed.begin(), passed.end(), '\n'));
    window_.consume(count);
  }

  InputWindow window_;
  std::size_t taken_ = 0;
  std::uint64_t line_ = 0;
  std::uint64_t next_line_ = 1;
  std::optional<Error> error_;
};

}  // namespace

bool InputWindow::more() {
  if (at_end_ || error_) return false;
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (bytes_.size() < kLargeWindow || bytes_.size() - end_ < kSmallWindow) {
    bytes_.resize(std::max(bytes_.size() * 2, kSmallWindow));
  }
  const auto count = input_->read(bytes_.data() + end_, bytes_.size() - end_);
  if (!count) {
    error_ = count.error();
    return false;
  }
  end_ += *count;
  at_end_ = *count == 0;
  return !at_end_;
}

std::string_view InputWindow::ahead(std::size_t size) {
  while (unread().size() < size && more()) {
  }
  return unread().substr(0, size);
}

std::unique_ptr<RecordReader> make_line_reader(InputWindow window) {
  return std::make_unique<LineReader>(std::move(window));
}

std::unique_ptr<RecordReader> make_joined_reader(std::unique_ptr<RecordReader> lines,
                                                 bool (*begins)(std::string_view header,
                                                                std::string_view line)) {
  return std::make_unique<JoinedReader>(std::move(lines), begins);
}

std::unique_ptr<RecordReader> make_json_reader(InputWindow window) {
  return std::make_unique<JsonReader>(std::move(window));
}

}  // namespace muster
