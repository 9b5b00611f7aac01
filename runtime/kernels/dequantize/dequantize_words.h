// Floats of bytes, four at a time, on cores with DSP and floats of 32 bits.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/words.h"

#if CMSIS_NN_DELEGATE_WORDS && defined(__ARM_FP)
#define CMSIS_NN_DELEGATE_FLOAT_WORDS ((__ARM_FP & 4) != 0)
#else
#define CMSIS_NN_DELEGATE_FLOAT_WORDS 0
#endif

#if CMSIS_NN_DELEGATE_FLOAT_WORDS

namespace cmsis_nn_delegate::portable {

/// (byte - zero_point) * scale of bytes.
struct ByteFloats {
  float scale;
  std::int32_t offset;  // -zero_point

  float of(std::int8_t byte) const { return static_cast<float>(byte + offset) * scale; }

  /// Stores those of the lowest byte of each of four words that are rotated right, and returns where the next ones go.
  /// GCC turns bytes in two instructions, moves registers one by one, and stores floats one by one.
  template <int kA, int kB, int kC, int kD>
  float* store(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d,
               float* output) const {
    std::int32_t first;
    std::int32_t second;
    asm volatile(
        "sxtab %1, %7, %3, ror %9\n\t"
        "sxtab %2, %7, %4, ror %10\n\t"
        "vmov s8, s9, %1, %2\n\t"
        "sxtab %1, %7, %5, ror %11\n\t"
        "sxtab %2, %7, %6, ror %12\n\t"
        "vmov s10, s11, %1, %2\n\t"
        "vcvt.f32.s32 s8, s8\n\t"
        "vcvt.f32.s32 s9, s9\n\t"
        "vcvt.f32.s32 s10, s10\n\t"
        "vcvt.f32.s32 s11, s11\n\t"
        "vmul.f32 s8, s8, %8\n\t"
        "vmul.f32 s9, s9, %8\n\t"
        "vmul.f32 s10, s10, %8\n\t"
        "vmul.f32 s11, s11, %8\n\t"
        "vstmia %0!, {s8-s11}"
        : "+r"(output), "=&r"(first), "=&r"(second)
        : "r"(a), "r"(b), "r"(c), "r"(d), "r"(offset), "t"(scale), "i"(kA), "i"(kB), "i"(kC),
          "i"(kD)
        : "s8", "s9", "s10", "s11", "memory");
    return output;
  }
};

/// Writes the floats of `count` bytes that lie together.
inline void dequantize_bytes(const std::int8_t* input, std::int32_t count, ByteFloats floats,
                             float* output) {
  for (; count >= 4; count -= 4, input += 4) {
    const std::uint32_t word = load_word(input);
    output = floats.store<0, 8, 16, 24>(word, word, word, word, output);
  }
  for (; count > 0; --count) {
    *output++ = floats.of(*input++);
  }
}

/// Writes the floats of four channels, whose planes lie one behind the other; pixels lie `step` apart.
inline void dequantize_four_channels(const std::int8_t* pixel, std::int32_t pixels,
                                     std::int32_t step, ByteFloats floats, float* first) {
  float* second = first + pixels;
  float* third = second + pixels;
  float* fourth = third + pixels;
  for (; pixels >= 4; pixels -= 4) {
    const std::uint32_t a = load_word(pixel);
    const std::uint32_t b = load_word(pixel += step);
    const std::uint32_t c = load_word(pixel += step);
    const std::uint32_t d = load_word(pixel += step);
    pixel += step;
    first = floats.store<0, 0, 0, 0>(a, b, c, d, first);
    second = floats.store<8, 8, 8, 8>(a, b, c, d, second);
    third = floats.store<16, 16, 16, 16>(a, b, c, d, third);
    fourth = floats.store<24, 24, 24, 24>(a, b, c, d, fourth);
  }
  for (; pixels > 0; --pixels, pixel += step) {
    *first++ = floats.of(pixel[0]);
    *second++ = floats.of(pixel[1]);
    *third++ = floats.of(pixel[2]);
    *fourth++ = floats.of(pixel[3]);
  }
}

}  // namespace cmsis_nn_delegate::portable

#endif
