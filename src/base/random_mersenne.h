// The Mersenne Twister (MT19937, Matsumoto and Nishimura 1998): the word generator under CPython's
// `random` and NumPy's legacy `RandomState`. Use it only through those two; Muster's own draws come
// from base/random.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace muster {

class MersenneTwister {
 public:
  // The authors' init_genrand.
  void seed_with_number(std::uint32_t seed);
  // The authors' init_by_array; `key` must not be empty.
  void seed_with_key(std::span<const std::uint32_t> key);

  std::uint32_t next_word() {
    if (position_ == kWords) refill();
    std::uint32_t word = words_[position_++];
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680U;
    word ^= (word << 15) & 0xefc60000U;
    return word ^ (word >> 18);
  }

  // A double in [0, 1) with 53 random bits, from two words. CPython and NumPy make it the same way.
  double next_unit() {
    const std::uint32_t high = next_word() >> 5;
    const std::uint32_t low = next_word() >> 6;
    return (static_cast<double>(high) * 67108864.0 + static_cast<double>(low)) / 9007199254740992.0;
  }

 private:
  static constexpr std::size_t kWords = 624;
  void refill();

  std::array<std::uint32_t, kWords> words_{};
  std::size_t position_ = kWords;
};

}  // namespace muster
