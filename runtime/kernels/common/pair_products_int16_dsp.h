// The inner loops of pair_products_int16.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/pair_products_int16.h"
#include "runtime/kernels/common/pair_products_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_interleave_pairs(const std::int16_t* a, const std::int16_t* b,
                                        std::int32_t* out, std::int32_t words);
void cmsis_nn_delegate_multiply_pairs_int16_floor(const portable::PairProductsInt16* products);
void cmsis_nn_delegate_multiply_pairs_int16_any(const portable::PairProductsInt16* products);
void cmsis_nn_delegate_multiply_nibble_pairs_int16_floor(
    const portable::PairProductsInt16* products);
void cmsis_nn_delegate_multiply_nibble_pairs_int16_any(const portable::PairProductsInt16* products);
}

struct DspPairProductsInt16 {
  using Element = std::int16_t;

  static void widen(const std::int16_t* a, const std::int16_t* b, std::int32_t* out,
                    std::int32_t words) {
    cmsis_nn_delegate_interleave_pairs(a, b, out, words);
  }
  static void widen_one(std::int16_t a, std::int16_t b, std::int32_t* out, std::int32_t i) {
    portable::pair_products_int16::widen_one(a, b, out, i);
  }
  static void multiply_floor(const portable::PairProductsInt16& products) {
    cmsis_nn_delegate_multiply_pairs_int16_floor(&products);
  }
  static void multiply_any(const portable::PairProductsInt16& products) {
    cmsis_nn_delegate_multiply_pairs_int16_any(&products);
  }
};

struct DspNibblePairProductsInt16 : DspPairProductsInt16 {
  static void multiply_floor(const portable::PairProductsInt16& products) {
    cmsis_nn_delegate_multiply_nibble_pairs_int16_floor(&products);
  }
  static void multiply_any(const portable::PairProductsInt16& products) {
    cmsis_nn_delegate_multiply_nibble_pairs_int16_any(&products);
  }
};

}  // namespace cmsis_nn_delegate::tuned
