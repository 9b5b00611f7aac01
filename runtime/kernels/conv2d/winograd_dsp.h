// The instructions and the inner loop of winograd.h for instruction sets with DSP and without MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/conv2d/winograd.h"

namespace cmsis_nn_delegate::tuned {

#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP

static_assert(portable::winograd::kPositions == 16 && portable::winograd::kTiles == 2 &&
                  portable::winograd::kBlock == 4 && portable::winograd::kDepth == 8,
              "assembly has these sizes in its instructions");

extern "C" void cmsis_nn_delegate_multiply_winograd(const std::int32_t* inputs,
                                                    const std::int32_t* weights,
                                                    std::int32_t* products, std::int32_t depth);

struct DspWinogradLanes {
  static std::int32_t even(std::int32_t word) {
    std::int32_t result;
    __asm__("sxtb16 %0, %1" : "=r"(result) : "r"(word));
    return result;
  }
  static std::int32_t odd(std::int32_t word) {
    std::int32_t result;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(result) : "r"(word));
    return result;
  }
  // These set flags that only SEL reads, which compilers do not use on their own.
  static std::int32_t add(std::int32_t a, std::int32_t b) {
    std::int32_t result;
    __asm__("sadd16 %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
    return result;
  }
  static std::int32_t sub(std::int32_t a, std::int32_t b) {
    std::int32_t result;
    __asm__("ssub16 %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
    return result;
  }
  static std::int32_t floor(std::int32_t sum, const std::int32_t* scales) {
    std::int32_t result;
    __asm__("lsl %0, %1, %4\n\tsmmla %0, %0, %2, %3\n\tssat %0, #8, %0, asr #12"
            : "=&r"(result)
            : "r"(sum), "r"(scales[2]), "r"(scales[3]), "r"(scales[1]));
    return result;
  }
  static std::int32_t any(std::int32_t sum, const std::int32_t* scales) {
    const std::int32_t doubled = sum >> 2 << 1;
    std::int32_t result;
    __asm__("smmlar %0, %1, %2, %3\n\tadd %0, %0, %1, asr #31\n\tasr %0, %0, %4\n\tssat %0, #8, %0"
            : "=&r"(result)
            : "r"(doubled), "r"(scales[2]), "r"(scales[3]), "r"(scales[1]));
    return result;
  }
  static void multiply(const std::int32_t* inputs, const std::int32_t* weights,
                       std::int32_t* products, std::int32_t depth) {
    cmsis_nn_delegate_multiply_winograd(inputs, weights, products, depth);
  }
};

#else

using DspWinogradLanes = portable::PlainWinogradLanes;  // never chosen

#endif

}  // namespace cmsis_nn_delegate::tuned
