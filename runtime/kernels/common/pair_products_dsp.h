// The inner loops of pair_products.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/common/pair_products.h"
#include "runtime/kernels/common/pair_products_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_widen_pairs(const std::int8_t* a, const std::int8_t* b, std::int32_t* out,
                                   std::int32_t words);
void cmsis_nn_delegate_widen_segments(const std::int8_t* a, std::ptrdiff_t b_minus_a,
                                      std::int32_t* out, const portable::PairSegments* segments);
void cmsis_nn_delegate_multiply_pairs_floor(const portable::PairProducts* products);
void cmsis_nn_delegate_multiply_pairs_any(const portable::PairProducts* products);
void cmsis_nn_delegate_multiply_joint_pairs_floor(const portable::PairProducts* products);
void cmsis_nn_delegate_multiply_joint_pairs_any(const portable::PairProducts* products);
void cmsis_nn_delegate_multiply_nibble_pairs_floor(const portable::PairProducts* products);
void cmsis_nn_delegate_multiply_nibble_pairs_any(const portable::PairProducts* products);
void cmsis_nn_delegate_multiply_wide_nibble_pairs_floor(const portable::PairProducts* products);
void cmsis_nn_delegate_multiply_wide_nibble_pairs_any(const portable::PairProducts* products);
}

struct DspPairProducts {
  using Element = std::int8_t;
  static constexpr bool kLimitsAreOptional = true;

  static void widen(const std::int8_t* a, const std::int8_t* b, std::int32_t* out,
                    std::int32_t words) {
    cmsis_nn_delegate_widen_pairs(a, b, out, words);
  }
  static void widen_segments(const std::int8_t* a, const std::int8_t* b, std::int32_t* out,
                             const portable::PairSegments& segments) {
    cmsis_nn_delegate_widen_segments(a, b - a, out, &segments);
  }
  static void multiply_floor(const portable::PairProducts& products) {
    cmsis_nn_delegate_multiply_pairs_floor(&products);
  }
  static void multiply_any(const portable::PairProducts& products) {
    cmsis_nn_delegate_multiply_pairs_any(&products);
  }
};

struct DspJointPairProducts : DspPairProducts {
  static void multiply_floor(const portable::PairProducts& products) {
    cmsis_nn_delegate_multiply_joint_pairs_floor(&products);
  }
  static void multiply_any(const portable::PairProducts& products) {
    cmsis_nn_delegate_multiply_joint_pairs_any(&products);
  }
};

struct DspNibblePairProducts : DspPairProducts {
  static void multiply_floor(const portable::PairProducts& products) {
    cmsis_nn_delegate_multiply_nibble_pairs_floor(&products);
  }
  static void multiply_any(const portable::PairProducts& products) {
    cmsis_nn_delegate_multiply_nibble_pairs_any(&products);
  }
};

struct DspWideNibblePairProducts : DspPairProducts {
  static void multiply_floor(const portable::PairProducts& products) {
    cmsis_nn_delegate_multiply_wide_nibble_pairs_floor(&products);
  }
  static void multiply_any(const portable::PairProducts& products) {
    cmsis_nn_delegate_multiply_wide_nibble_pairs_any(&products);
  }
};

}  // namespace cmsis_nn_delegate::tuned
