// The function of row_products.h for instruction sets without DSP.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantization_scalar.h"
#include "runtime/kernels/common/row_products.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
/// ScalarRowProducts::add.
void cmsis_nn_delegate_add_row(std::int32_t* sums, const std::int8_t* input, const std::int8_t* end,
                               const std::int8_t* weights);
}

/// Half of a block at a time, because cores have registers for no more than four sums and what they need.
class ScalarRowProducts {
 public:
  using Element = std::int8_t;

  static void multiply(portable::RowProducts& p) {
    const std::int32_t* table = p.table;
    const std::int32_t* scale = p.scales;
    const auto whole = static_cast<std::int32_t>(p.input_end - p.input);
    const std::int32_t rest =
        p.rest_end != p.input_end ? static_cast<std::int32_t>(p.rest_end - p.rest) : 0;
    for (std::int32_t channel = 0; channel < p.channels; channel += kBlock) {
      const std::int32_t* const weights = table + kBlock;
      for (std::int32_t half = 0; half < kBlock && channel + half < p.channels; half += kHalf) {
        std::int32_t sums[kHalf] = {table[half], table[half + 1], table[half + 2], table[half + 3]};
        const auto* const bytes = reinterpret_cast<const std::int8_t*>(weights + half / 2);
        add(sums, p.input, p.input_end, bytes);
        if (rest != 0) {
          add(sums, p.rest, p.rest_end, bytes + 8 * whole);
        }
        for (std::int32_t i = 0; i < kHalf && channel + half + i < p.channels; ++i) {
          const portable::RowScale channel_scale(p.form, scale);
          const std::int32_t value =
              p.form != 0 ? requantization::floor(sums[i], channel_scale.words)
                          : requantization::any(sums[i], channel_scale.words, p.least, p.most);
          p.output[channel + half + i] = static_cast<std::int8_t>(value);
          scale += p.scale_bytes / static_cast<std::int32_t>(sizeof(*scale));
        }
      }
      table = weights + 2 * (whole + rest);
    }
  }

 private:
  static constexpr std::int32_t kBlock = 8;
  static constexpr std::int32_t kHalf = 4;

  /// Adds the products of the inputs, at least four, with the weights of four channels, of which a block has twice as
  /// many.
#if __ARM_ARCH_ISA_THUMB < 2
  static void add(std::int32_t* sums, const std::int8_t* input, const std::int8_t* end,
                  const std::int8_t* weights) {
    cmsis_nn_delegate_add_row(sums, input, end, weights);
  }
#else
  static void add(std::int32_t* sums, const std::int8_t* input, const std::int8_t* end,
                  const std::int8_t* weights) {
    std::int32_t sum0 = sums[0];
    std::int32_t sum1 = sums[1];
    std::int32_t sum2 = sums[2];
    std::int32_t sum3 = sums[3];
    const auto pair = [&](std::int32_t first, std::int32_t second, const std::int8_t* w) {
      sum0 += first * w[0];
      sum1 += first * w[1];
      sum0 += second * w[2];
      sum1 += second * w[3];
      sum2 += first * w[4];
      sum3 += first * w[5];
      sum2 += second * w[6];
      sum3 += second * w[7];
    };
    for (; input != end; input += 4, weights += 32) {
      pair(input[0], input[2], weights);
      pair(input[1], input[3], weights + 16);
    }
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
  }
#endif
};

}  // namespace cmsis_nn_delegate::tuned
