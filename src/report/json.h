// Writes JSON text in the order in which it is told, numbers exactly. Use it for what Muster
// writes; reading is nlohmann's business.
//
// `<`, `>`, `&` and the two Unicode line separators are written as escapes, so the text can stand
// inside a <script> element whatever names it carries. Bytes that are not UTF-8 become U+FFFD.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

class JsonWriter {
 public:
  // With `indent` spaces per level, one member per line; 0: everything on one line.
  explicit JsonWriter(int indent = 0) : indent_(indent) {}

  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin('['); }
  JsonWriter& end_array() { return end(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(double number);  // null for NaN and infinities
  JsonWriter& value(bool flag);
  JsonWriter& null();

  template <typename T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  const std::string& text() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  void separate();
  void new_line();
  void quote(std::string_view text);

  std::string out_;
  std::vector<bool> filled_;  // per open bracket: something was written inside
  int indent_;
  bool after_key_ = false;
};

}  // namespace muster
