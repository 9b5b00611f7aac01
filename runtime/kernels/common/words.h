// Four bytes or two halfwords at a time on cores with the DSP extension, for kernels of any provider.
//
// CMSIS_NN_DELEGATE_WORDS is 1 where a kernel may use them, and 0 where there are vectors (common/vectors.h), on other
// cores, and where the compiler is asked for small code. A kernel computes the same with them and without.
#pragma once

#if defined(__ARM_FEATURE_DSP) && !defined(__ARM_FEATURE_MVE) && !defined(__OPTIMIZE_SIZE__)
#define CMSIS_NN_DELEGATE_WORDS (__ARM_FEATURE_DSP != 0)
#else
#define CMSIS_NN_DELEGATE_WORDS 0
#endif

#if CMSIS_NN_DELEGATE_WORDS

#include <arm_acle.h>

#include <cstdint>
#include <cstring>

namespace cmsis_nn_delegate::portable {

/// A word at any address: one instruction, because these cores take addresses that are not aligned, unless firmware sets
/// CCR.UNALIGN_TRP.
inline std::uint32_t load_word(const void* from) {
  std::uint32_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}
inline void store_word(void* to, std::uint32_t word) { std::memcpy(to, &word, sizeof(word)); }

/// The lower halves of two words, and the upper ones, each with that of `low` below. GCC takes two instructions.
inline std::uint32_t lower_halves(std::uint32_t low, std::uint32_t high) {
  std::uint32_t halves;
  asm("pkhbt %0, %1, %2, lsl #16" : "=r"(halves) : "r"(low), "r"(high));
  return halves;
}
inline std::uint32_t upper_halves(std::uint32_t low, std::uint32_t high) {
  std::uint32_t halves;
  asm("pkhtb %0, %1, %2, asr #16" : "=r"(halves) : "r"(high), "r"(low));
  return halves;
}

/// Two sums of 16 bits, with the first and the third byte of a word added, or with the second and the fourth one. GCC
/// takes an instruction more for these.
inline std::int32_t add_even_bytes(std::int32_t sums, std::uint32_t word) {
  return __sxtab16(sums, static_cast<std::int32_t>(word));
}
inline std::int32_t add_odd_bytes(std::int32_t sums, std::uint32_t word) {
  asm("sxtab16 %0, %0, %1, ror #8" : "+r"(sums) : "r"(word));
  return sums;
}

/// The sums of four columns of at most 256 rows of bytes, in 16 bits each: those of the first and of the third one, and
/// those of the second and of the fourth one.
struct FourSums {
  std::int32_t even = 0;
  std::int32_t odd = 0;

  void add(const std::int8_t* row) {
    const std::uint32_t word = load_word(row);
    even = add_even_bytes(even, word);
    odd = add_odd_bytes(odd, word);
  }
};

/// a * b / 2^16, rounded down, where b is the lower or the upper half of `halves`.
inline std::int32_t times_lower_half(std::int32_t a, std::int32_t halves) {
  std::int32_t product;
  asm("smulwb %0, %1, %2" : "=r"(product) : "r"(a), "r"(halves));
  return product;
}
inline std::int32_t times_upper_half(std::int32_t a, std::int32_t halves) {
  std::int32_t product;
  asm("smulwt %0, %1, %2" : "=r"(product) : "r"(a), "r"(halves));
  return product;
}

/// value / 2^kShift, rounded down, limited to int8.
template <int kShift>
inline std::int32_t shifted_to_byte(std::int32_t value) {
  std::int32_t byte;
  asm("ssat %0, #8, %1, asr %2" : "=r"(byte) : "r"(value), "i"(kShift));
  return byte;
}

/// The lower bytes of four numbers.
inline std::uint32_t join_bytes(std::int32_t first, std::int32_t second, std::int32_t third,
                                std::int32_t fourth) {
  const std::uint32_t even =
      lower_halves(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(third));
  const std::uint32_t odd =
      lower_halves(static_cast<std::uint32_t>(second), static_cast<std::uint32_t>(fourth));
  return (even & 0x00FF00FF) | (odd & 0x00FF00FF) << 8;
}

/// The larger ones of four bytes and four others.
inline std::uint32_t larger_bytes(std::uint32_t a, std::uint32_t b) {
  __ssub8(a, b);  // says where a >= b
  return __sel(a, b);
}

/// Four bytes limited to [least, most], where each of these has its byte four times.
inline std::uint32_t limit_four(std::uint32_t bytes, std::uint32_t least, std::uint32_t most) {
  const std::uint32_t raised = larger_bytes(bytes, least);
  __ssub8(most, raised);
  return __sel(raised, most);
}

/// (a * b + 2^31) / 2^32, rounded down.
inline std::int32_t rounded_upper_half(std::int32_t a, std::int32_t b) {
  std::int32_t high;
  asm("smmulr %0, %1, %2" : "=r"(high) : "r"(a), "r"(b));
  return high;
}

/// sum + (a * b + 2^31) / 2^32, rounded down.
inline std::int32_t add_rounded_upper_half(std::int32_t sum, std::int32_t a, std::int32_t b) {
  asm("smmlar %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}

}  // namespace cmsis_nn_delegate::portable

#endif
