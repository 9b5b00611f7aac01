// The function of row_products.h for instruction sets without DSP.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/requantization_scalar.h"
#include "runtime/kernels/common/row_products.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
/// Adds the products of the inputs, at least four, with the weights of a part of a block.
void cmsis_nn_delegate_add_row(std::int32_t* sums, const std::int8_t* input, const std::int8_t* end,
                               const std::int8_t* weights);
}

/// The sums of a part of a block are in registers at a time: of all of it, or on Armv6-M of its half.
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
      for (std::int32_t part = 0; part < kBlock && channel + part < p.channels; part += kPart) {
        std::int32_t sums[kPart];
        std::memcpy(sums, table + part, sizeof(sums));
        const auto* const bytes = reinterpret_cast<const std::int8_t*>(weights + part / 2);
        cmsis_nn_delegate_add_row(sums, p.input, p.input_end, bytes);
        if (rest != 0) {
          cmsis_nn_delegate_add_row(sums, p.rest, p.rest_end, bytes + 8 * whole);
        }
        const std::int32_t left = p.channels - channel - part;
        scale = requantize(p, sums, left < kPart ? left : kPart, scale, p.output + channel + part);
      }
      table = weights + 2 * (whole + rest);
    }
  }

 private:
  static constexpr std::int32_t kBlock = 8;
#if __ARM_ARCH_ISA_THUMB >= 2
  static constexpr std::int32_t kPart = 8;
#else
  static constexpr std::int32_t kPart = 4;
#endif

  /// Requantizes `count` sums and returns what follows their scales. Copies of `p`'s members, because `output` might be
  /// a part of `p`, for all that the compiler knows.
  static const std::int32_t* requantize(const portable::RowProducts& p, const std::int32_t* sums,
                                        std::int32_t count, const std::int32_t* scale,
                                        std::int8_t* output) {
    const std::int32_t step = p.scale_bytes / static_cast<std::int32_t>(sizeof(*scale));
    const std::int32_t* const end = sums + count;
    if (p.form != 0) {
      for (; sums != end; ++sums, scale += step) {
        const portable::RowScale channel(1, scale);
        *output++ = static_cast<std::int8_t>(requantization::floor(*sums, channel.words));
      }
    } else {
      const std::int32_t least = p.least;
      const std::int32_t most = p.most;
      for (; sums != end; ++sums, scale += step) {
        const portable::RowScale channel(0, scale);
        *output++ =
            static_cast<std::int8_t>(requantization::any(*sums, channel.words, least, most));
      }
    }
    return scale;
  }
};

}  // namespace cmsis_nn_delegate::tuned
