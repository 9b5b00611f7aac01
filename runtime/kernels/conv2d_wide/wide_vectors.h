// Convolution of int16 with sums of 64 bits, as products of four windows with two filters, vector by vector.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/vector_windows.h"

namespace cmsis_nn_delegate::portable {

namespace wide_vectors {

/// Inputs of a turn of the loop, of which a window has a whole number.
inline constexpr std::int32_t kTurn = 32;
/// A window has fewer inputs than this, so that the sums of lower and of upper halves fit 32 bits each.
inline constexpr std::uint64_t kMostInputs = std::uint64_t{1} << 24;

}  // namespace wide_vectors

/// The functions for plain C++. `vectors` are turns; the table has for each 2 channels: for each 8 inputs the weights of the
/// first and of the second; for each channel the start of its products with the multiplier, int64, the multiplier, of 15
/// bits, and the shift.
struct PlainWideVectorProductsInt16 : PlainVectorProductsInt16 {
  static void multiply(const VectorProductsOf<std::int16_t>& p) {
    for (std::int32_t group = 0; group < p.groups; ++group) {
      const std::int8_t* table = p.table;
      for (std::int32_t first = 0; first < p.channels; first += vector_products::kChannels) {
        multiply_block(p, group, table,
                       first + vector_products::kChannels <= p.channels
                           ? first
                           : p.channels - vector_products::kChannels);
        table += p.vectors * wide_vectors::kTurn * vector_products::kChannels + 32;
      }
    }
  }

 private:
  static void multiply_block(const VectorProductsOf<std::int16_t>& p, std::int32_t group,
                             const std::int8_t* table, std::int32_t at) {
    const std::int32_t depth = p.vectors * wide_vectors::kTurn;
    std::int16_t* output = p.output + group * vector_products::kWindows * p.channels + at;
    for (std::int32_t channel = 0; channel < vector_products::kChannels; ++channel) {
      const std::int8_t* scales = table + depth * vector_products::kChannels + channel * 16;
      std::uint64_t start;
      std::memcpy(&start, scales, sizeof(start));
      const std::int32_t multiplier = vector_products::word(scales + 8);
      const std::int32_t shift = vector_products::word(scales + 12) & 63;
      for (std::int32_t window = 0; window < vector_products::kWindows; ++window) {
        const std::int16_t* inputs = p.windows[window] + group * p.windows_step / 2;
        std::int64_t sum = 0;
        for (std::int32_t i = 0; i < depth; ++i) {
          sum += inputs[i] * table[i / 8 * 16 + channel * 8 + i % 8];
        }
        const std::uint64_t product =
            start + static_cast<std::uint64_t>(sum) *
                        static_cast<std::uint64_t>(static_cast<std::int64_t>(multiplier));
        output[p.offsets[2 * window + channel] / 2] = clamp_to<std::int16_t>(
            static_cast<std::int32_t>(static_cast<std::int64_t>(product) >> shift),
            payload::Activation{p.least, p.most});
      }
    }
  }
};

using WideVectorArgs = payload::Conv2dWideVectorsInt16Args;
using WideVectorSizes = VectorSizes<std::int16_t, WideVectorArgs, wide_vectors::kTurn>;

/// Computes one call: the body of a kernel's function.
template <typename Products>
[[gnu::always_inline]] inline Error compute_conv2d_wide_vectors(const void* args,
                                                                const Bases& bases) {
  VectorWindows<Products, WideVectorArgs, false, wide_vectors::kTurn>(
      *static_cast<const WideVectorArgs*>(args), bases)
      .run();
  return Error::Ok;
}

/// Returns the scratch memory that one call needs.
inline std::uint32_t conv2d_wide_vectors_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const WideVectorArgs*>(args);
  return static_cast<std::uint32_t>(WideVectorSizes(a).scratch_bytes(a));
}

/// Returns whether the table has as many words as the sizes ask for, in one group without gaps, and nothing is too large.
inline bool conv2d_wide_vectors_accepts(const void* args) {
  const auto& a = *static_cast<const WideVectorArgs*>(args);
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 28;
  constexpr std::int32_t kMostChannels = (1 << 14) / 2;
  const WideVectorSizes sizes(a);
  return a.input_dims.c == a.filter_dims.c && a.params.dilation.h == 1 &&
         a.params.dilation.w == 1 && a.output_dims.c >= 2 && a.output_dims.c <= kMostChannels &&
         sizes.inputs < wide_vectors::kMostInputs && sizes.columns < kLimit &&
         sizes.scratch_bytes(a) < kLimit &&
         sizes.depth / 2 + 8 == static_cast<std::uint32_t>(a.block_words) &&
         a.blocks == (a.output_dims.c + 1) / 2;
}

/// Returns the kernel whose `run` calls compute_conv2d_wide_vectors().
constexpr Kernel conv2d_wide_vectors_kernel(Kernel::Run run) {
  return Kernel(operators::kConv2dWideVectorsInt16, run, conv2d_wide_vectors_scratch_bytes)
      .limited_to(conv2d_wide_vectors_accepts)
      .overlapping(conv2d_vectors_overlaps<std::int16_t, WideVectorArgs>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
