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

/// (a * b + 2^31) / 2^32, rounded down.
inline std::int32_t rounded_upper_half(std::int32_t a, std::int32_t b) {
  std::int32_t high;
  asm("smmulr %0, %1, %2" : "=r"(high) : "r"(a), "r"(b));
  return high;
}

}  // namespace cmsis_nn_delegate::portable

#endif
