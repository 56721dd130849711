// The state of a run as bytes, to save and restore it. A class names its members once, and an
// archive either writes or reads them:
//   bool checkpoint(Archive& archive) override {
//     archive.value(count_);
//     archive.list(times_);
//     archive.text(name_);
//     return true;
//   }
// A policy or backend that does not say how it is written cannot be saved: its checkpoint() is the
// one it inherits, which returns false. One that remembers nothing says so by returning true.
//
// Only the program that wrote the bytes can read them: they follow its layout in memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace muster {

class Archive {
 public:
  Archive() = default;                                                        // writes
  explicit Archive(std::string_view bytes) : rest_(bytes), reading_(true) {}  // reads

  bool reading() const { return reading_; }
  // False once reading has met an unexpected end or mark: the bytes are damaged.
  bool good() const { return good_; }
  bool finished() const { return rest_.empty(); }
  const std::string& bytes() const { return bytes_; }

  template <typename T>
  void value(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if constexpr (std::is_same_v<T, bool>) {
      // A byte that is neither 0 nor 1 is no bool, and must not become one.
      auto byte = static_cast<unsigned char>(value);
      raw(&byte, 1);
      require(byte <= 1);
      value = byte == 1;
    } else {
      raw(&value, sizeof(T));
    }
  }
  // Of values that are nothing but their bytes.
  template <typename T>
  void list(std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::uint64_t count = size(values.size(), sizeof(T));
    if (reading_) values.resize(count);
    if (count > 0) raw(values.data(), count * sizeof(T));
  }
  // Of others: `keep` is called with each. What is read grows with what there is to read: a damaged
  // count costs no more memory than the bytes that follow it.
  template <typename Values, typename Keep>
  void each(Values& values, Keep keep) {
    const std::uint64_t count = size(values.size(), 1);
    if (!reading_) {
      for (auto& one : values) keep(one);
      return;
    }
    std::uint64_t kept = 0;
    for (; good_ && kept < count; ++kept) {
      if (values.size() <= kept) values.resize(kept + 1);
      keep(values[kept]);
    }
    values.resize(kept);
  }
  template <typename Key, typename Value>
  void map(std::map<Key, Value>& values) {
    std::vector<Key> keys;
    std::vector<Value> contents;
    for (const auto& [key, content] : values) {
      keys.push_back(key);
      contents.push_back(content);
    }
    list(keys);
    list(contents);
    if (!reading_) return;
    values.clear();
    if (keys.size() != contents.size()) good_ = false;
    for (std::size_t i = 0; good_ && i < keys.size(); ++i) values[keys[i]] = contents[i];
  }
  // Of a set: anything with insert() and clear().
  template <typename Set>
  void set(Set& values) {
    std::vector<typename Set::value_type> contents(values.begin(), values.end());
    list(contents);
    if (!reading_) return;
    values.clear();
    for (const auto& content : contents) values.insert(content);
  }
  // A list of lists.
  template <typename T>
  void lists(std::vector<std::vector<T>>& values) {
    each(values, [this](std::vector<T>& one) { list(one); });
  }
  // Bits, which a vector packs.
  void bits(std::vector<bool>& values) {
    std::vector<char> contents(values.begin(), values.end());
    list(contents);
    if (reading_) values.assign(contents.begin(), contents.end());
  }
  void text(std::string& text) {
    const std::uint64_t count = size(text.size(), 1);
    if (reading_) text.resize(count);
    raw(text.data(), count);
  }
  // A number that must be the same when it is read: tells at once where two sides differ.
  void mark(std::uint64_t number) {
    std::uint64_t found = number;
    value(found);
    if (found != number) good_ = false;
  }
  // What must hold of all that was read: indexes lie within what they point into. Where it does not
  // the bytes are damaged.
  void require(bool holds) { good_ = good_ && holds; }

 private:
  std::uint64_t size(std::size_t now, std::size_t each) {
    std::uint64_t count = now;
    value(count);
    if (reading_ && count > rest_.size() / each) {
      good_ = false;
      return 0;
    }
    return count;
  }
  void raw(void* data, std::size_t bytes) {
    if (!reading_) {
      bytes_.append(static_cast<const char*>(data), bytes);
      return;
    }
    if (!good_ || bytes > rest_.size()) {
      good_ = false;
      return;
    }
    if (bytes > 0) std::memcpy(data, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
  }

  std::string bytes_;
  std::string_view rest_;
  bool reading_ = false;
  bool good_ = true;
};

}  // namespace muster
