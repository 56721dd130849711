#include "base/random_mersenne.h"

#include <algorithm>
#include <cassert>

namespace muster {
namespace {

constexpr std::size_t kShift = 397;  // distance of the word that is mixed in
constexpr std::uint32_t kTwist = 0x9908b0dfU;
constexpr std::uint32_t kHighBit = 0x80000000U;

std::uint32_t twisted(std::uint32_t high, std::uint32_t low) {
  const std::uint32_t joined = (high & kHighBit) | (low & ~kHighBit);
  return (joined >> 1) ^ ((low & 1U) != 0 ? kTwist : 0U);
}

}  // namespace

void MersenneTwister::seed_with_number(std::uint32_t seed) {
  words_[0] = seed;
  for (std::uint32_t i = 1; i < kWords; ++i) {
    const std::uint32_t before = words_[i - 1];
    words_[i] = 1812433253U * (before ^ (before >> 30)) + i;
  }
  position_ = kWords;
}

void MersenneTwister::seed_with_key(std::span<const std::uint32_t> key) {
  assert(!key.empty());
  seed_with_number(19650218U);
  std::size_t i = 1;
  std::size_t j = 0;
  const auto step_on = [&] {
    if (++i == kWords) {
      words_[0] = words_[kWords - 1];
      i = 1;
    }
  };
  const auto mixed = [&](std::uint32_t factor) {
    const std::uint32_t before = words_[i - 1];
    return words_[i] ^ ((before ^ (before >> 30)) * factor);
  };
  for (std::size_t left = std::max(kWords, key.size()); left > 0; --left) {
    words_[i] = mixed(1664525U) + key[j] + static_cast<std::uint32_t>(j);
    step_on();
    if (++j == key.size()) j = 0;
  }
  for (std::size_t left = kWords - 1; left > 0; --left) {
    words_[i] = mixed(1566083941U) - static_cast<std::uint32_t>(i);
    step_on();
  }
  words_[0] = kHighBit;
}

void MersenneTwister::refill() {
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::size_t next = i + 1 == kWords ? 0 : i + 1;
    const std::size_t far = i + kShift < kWords ? i + kShift : i + kShift - kWords;
    words_[i] = words_[far] ^ twisted(words_[i], words_[next]);
  }
  position_ = 0;
}

}  // namespace muster
