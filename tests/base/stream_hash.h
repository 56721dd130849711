// One number for a long list of draws: FNV-1a over the bits of each, so that a test can pin ten
// thousand values with one constant. The constants were printed by CPython 3.11 and NumPy's
// RandomState.
#pragma once

#include <bit>
#include <cstdint>

namespace muster {

class StreamHash {
 public:
  void add(std::uint64_t bits) {
    for (int shift = 0; shift < 64; shift += 8) {
      hash_ = (hash_ ^ ((bits >> shift) & 0xffU)) * 0x100000001b3U;
    }
  }
  void add(std::int64_t value) { add(static_cast<std::uint64_t>(value)); }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

// The hash of `count` draws.
template <typename Stream, typename Draw>
std::uint64_t hash_of_draws(Stream stream, Draw draw, int count = 10000) {
  StreamHash hash;
  for (int i = 0; i < count; ++i) hash.add(draw(stream));
  return hash.value();
}

template <typename List>
std::uint64_t hash_of(const List& list) {
  StreamHash hash;
  for (const auto value : list) hash.add(static_cast<std::uint64_t>(value));
  return hash.value();
}

}  // namespace muster
