// The inner loops of pair_products.h for instruction sets without DSP: in assembly, but on Armv6-M only sums are.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/pair_products.h"
#include "runtime/kernels/common/pair_products_members.h"
#include "runtime/kernels/common/requantization_scalar.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
#if __ARM_ARCH_ISA_THUMB >= 2
void cmsis_nn_delegate_multiply_pairs_floor(const portable::PairProducts* products);
void cmsis_nn_delegate_multiply_pairs_any(const portable::PairProducts* products);
#else
/// Computes the sums of four channels in two windows, from `table` at the channels.
void cmsis_nn_delegate_add_pairs(const std::int32_t* inputs, const std::int32_t* table,
                                 std::int32_t* sums, const std::int32_t* inputs_end);
#endif
}

/// Widened inputs are one word for each input of both windows: two int16 where products are summed one by one, and
/// elsewhere the sum of one and 2^16 times the other.
class ScalarPairProducts {
 public:
  using Element = std::int8_t;

  static void widen(const std::int8_t* a, const std::int8_t* b, std::int32_t* out,
                    std::int32_t words) {
    for (; words != 0; --words, a += 4, b += 4, out += 4) {
      out[0] = both(a[0], b[0]);
      out[1] = both(a[2], b[2]);
      out[2] = both(a[1], b[1]);
      out[3] = both(a[3], b[3]);
    }
  }
  static void widen_one(std::int8_t a, std::int8_t b, std::int32_t* out, std::int32_t i) {
    out[i / 4 * 4 + i % 2 * 2 + i % 4 / 2] = both(a, b);
  }

#if __ARM_ARCH_ISA_THUMB >= 2
  static void multiply_floor(const portable::PairProducts& products) {
    cmsis_nn_delegate_multiply_pairs_floor(&products);
  }
  static void multiply_any(const portable::PairProducts& products) {
    cmsis_nn_delegate_multiply_pairs_any(&products);
  }

 private:
  static std::int32_t both(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>((static_cast<std::uint32_t>(a) & 0xFFFF) |
                                     static_cast<std::uint32_t>(b) << 16);
  }
#else
  static void multiply_floor(const portable::PairProducts& products) { multiply<Floor>(products); }
  static void multiply_any(const portable::PairProducts& products) { multiply<Any>(products); }

 private:
  static std::int32_t both(std::int32_t a, std::int32_t b) { return a + b * (1 << 16); }

  struct Floor {
    static std::int32_t requantize(const portable::PairProducts& /*p*/, std::int32_t sum,
                                   const std::int32_t* scale) {
      return requantization::floor(sum, scale);
    }
  };
  struct Any {
    static std::int32_t requantize(const portable::PairProducts& p, std::int32_t sum,
                                   const std::int32_t* scale) {
      return requantization::any(sum, scale, static_cast<std::int8_t>(p.least & 0xFF),
                                 static_cast<std::int8_t>(p.most & 0xFF));
    }
  };

  template <typename Form>
  static void multiply(const portable::PairProducts& p) {
    using portable::pair_products::kBlock;
    const std::int32_t* table = p.table;
    for (std::int32_t channel = 0; channel < p.channels; channel += kBlock) {
      std::int32_t sums[2 * kBlock];
      cmsis_nn_delegate_add_pairs(p.inputs, table, sums, p.inputs_end);
      table += kBlock + (p.inputs_end - p.inputs);
      const std::int32_t left = p.channels - channel;
      const std::int32_t* const end = sums + 2 * (left < kBlock ? left : kBlock);
      std::int8_t* out0 = p.output0 + channel;
      std::int8_t* out1 = p.output1 + channel;
      for (const std::int32_t* sum = sums; sum != end; sum += 2) {
        *out0++ = static_cast<std::int8_t>(Form::requantize(p, sum[0], table));
        *out1++ = static_cast<std::int8_t>(Form::requantize(p, sum[1], table));
        table += portable::pair_products::kScales;
      }
    }
  }
#endif
};

}  // namespace cmsis_nn_delegate::tuned
