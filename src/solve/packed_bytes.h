// Eight small numbers in one machine word, a byte each, handled at once ("SIMD within a register":
// Warren, "Hacker's Delight", chapters 5 and 6). Values stay below 128, so that the top bit of each
// byte is free and catches what is borrowed or carried.
#pragma once

#include <cstdint>

namespace muster::packed_bytes {

using Word = std::uint64_t;

inline constexpr Word kHigh = 0x8080808080808080U;
inline constexpr Word kOnes = 0x0101010101010101U;

// 0xff in every byte that is not zero.
inline Word filled(Word x) {
  const Word high = (((x & ~kHigh) + ~kHigh) | x) & kHigh;
  return (high >> 7) * 0xff;
}
inline int count_filled(Word x) {
  // The sum of the bytes, which are 0 or 1; counting bits takes long where there is no instruction.
  return static_cast<int>((((((x & ~kHigh) + ~kHigh) | x) & kHigh) >> 7) * kOnes >> 56);
}
// Whether every byte of `a` is at least that of `b`.
inline bool covers(Word a, Word b) { return ((((a | kHigh) - b) & kHigh) ^ kHigh) == 0; }
inline int sum_bytes(Word x) {
  constexpr Word kEven = 0x00ff00ff00ff00ffU;
  const Word pairs = (x & kEven) + ((x >> 8) & kEven);
  return static_cast<int>((pairs * 0x0001000100010001U) >> 48);
}
// The smaller of each pair of bytes.
inline Word lesser(Word a, Word b) {
  const Word not_less = ((a | kHigh) - b) & kHigh;  // a >= b
  const Word choose_b = (not_less >> 7) * 0xff;
  return (b & choose_b) | (a & ~choose_b);
}

}  // namespace muster::packed_bytes
