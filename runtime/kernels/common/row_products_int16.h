// row_products.h for inputs and results of int16, in plain C++. Assembly for an instruction set has the same function
// (row_products_int16_dsp.h).
#pragma once

#include <cstdint>

#include "runtime/kernels/common/pair_products_int16.h"
#include "runtime/kernels/common/row_products.h"

namespace cmsis_nn_delegate::portable {

/// `scales` has what `packed` in aot/cmsis_nn_delegate/providers/tuned/requantization_int16.py describes, or for weights of
/// 4 bits `fine_packed`, and `form` has no meaning.
using RowProductsInt16 = RowProductsOf<std::int16_t>;

/// How a channel is requantized, from two words: those of pair_products_int16 that `Form` reads.
struct RowAny {
  using Form = pair_products_int16::Any;

  static std::int32_t half(std::int32_t shift) {
    return pair_products::shift_left(1, wrapping_sub(shift, 1));
  }
};
struct RowFine {
  using Form = pair_products_int16::Fine;

  static std::int32_t half(std::int32_t shifts) {
    return pair_products::shift_left(1, shifts >> 16) >> 1;
  }
};

/// The function in plain C++.
template <typename Weights, typename Scale>
struct PlainRowsInt16 {
  using Element = std::int16_t;
  static constexpr std::int32_t kBlock = PlainRowProducts::kBlock;

  static void multiply(RowProductsInt16& p) {
    const std::int32_t* table = p.table;
    const std::int32_t* scale = p.scales;
    for (std::int32_t channel = 0; channel < p.channels; channel += kBlock) {
      std::uint32_t sums[kBlock];
      for (std::uint32_t& sum : sums) {
        sum = static_cast<std::uint32_t>(*table++);
      }
      table = add(sums, p.input, p.input_end, table);
      if (p.rest_end != p.input_end) {
        table = add(sums, p.rest, p.rest_end, table);
      }
      for (std::int32_t i = 0; i < kBlock && channel + i < p.channels; ++i) {
        const std::int32_t words[] = {scale[0], scale[1], Scale::half(scale[0])};
        const std::int32_t value =
            Scale::Form::requantize(static_cast<std::int32_t>(sums[i]), words);
        p.output[channel + i] = static_cast<std::int16_t>(value < p.least  ? p.least
                                                          : value > p.most ? p.most
                                                                           : value);
        scale += p.scale_bytes / static_cast<std::int32_t>(sizeof(*scale));
      }
    }
  }

 private:
  static const std::int32_t* add(std::uint32_t (&sums)[kBlock], const std::int16_t* input,
                                 const std::int16_t* end, const std::int32_t* table) {
    for (; input != end; input += 2) {
      table = Weights::add(sums, input[0], input[1], table);
    }
    return table;
  }
};

using PlainRowProductsInt16 = PlainRowsInt16<RowBytes, RowAny>;
using PlainNibbleRowProductsInt16 = PlainRowsInt16<RowNibbles, RowFine>;

}  // namespace cmsis_nn_delegate::portable
