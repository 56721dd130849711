// Strings as small integers: model names, users, partitions and GPU types are interned when they
// are read, so that all other code compares and indexes numbers.
//
// A symbol is meaningful only together with the table that made it. Reading is thread-safe as long
// as no thread interns; sweeps intern everything first and then share the table.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace muster {

// kNoSymbol is the empty string in every table.
enum class Symbol : std::uint32_t {};
inline constexpr Symbol kNoSymbol{0};

class Symbols {
 public:
  Symbols() { intern(""); }
  Symbols(const Symbols& other) {
    for (const std::string& text : other.texts_) intern(text);
  }
  Symbols& operator=(const Symbols&) = delete;
  Symbols(Symbols&&) = default;
  Symbols& operator=(Symbols&&) = default;
  ~Symbols() = default;

  Symbol intern(std::string_view text) {
    if (const auto found = index_.find(text); found != index_.end()) return found->second;
    const Symbol symbol{static_cast<std::uint32_t>(texts_.size())};
    index_.emplace(texts_.emplace_back(text), symbol);
    return symbol;
  }
  // kNoSymbol when the text was never interned.
  Symbol find(std::string_view text) const {
    const auto found = index_.find(text);
    return found == index_.end() ? kNoSymbol : found->second;
  }
  const std::string& text(Symbol symbol) const { return texts_[static_cast<std::size_t>(symbol)]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque: the index keeps views into the strings
  std::unordered_map<std::string_view, Symbol> index_;
};

}  // namespace muster
