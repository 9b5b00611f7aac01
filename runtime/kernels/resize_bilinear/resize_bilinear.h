// Bilinear interpolation, for elements of any type.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/resize.h"
#include "runtime/kernels/common/vectors.h"
#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate::portable {

inline constexpr int kWeightBits = 10;
inline constexpr std::int32_t kWeightOne = 1 << kWeightBits;

/// Two neighbours along one axis, and the weight of the second out of kWeightOne.
struct Neighbours {
  std::int32_t near;
  std::int32_t far;
  std::int32_t weight;

  static Neighbours of(std::int32_t index, const payload::ResizeAxis& axis, std::int32_t size) {
    const std::int32_t place = place_of<kWeightBits>(index, axis, size);
    const std::int32_t near = place >> kWeightBits;
    return {near, near < size - 1 ? near + 1 : near, place & (kWeightOne - 1)};
  }
};

/// value / kWeightOne^2, halves away from zero.
template <typename Element, typename Sum>
inline Element rounded_mean(Sum value) {
  constexpr int kBits = 2 * kWeightBits;
  constexpr Sum kHalf = Sum{1} << (kBits - 1);
  return static_cast<Element>((value + kHalf - (value < 0 ? 1 : 0)) >> kBits);
}

#if CMSIS_NN_DELEGATE_VECTORS
/// The four pixels around a place, and the weights of the right and of the lower ones.
struct Corners {
  const std::int8_t *above_left, *above_right, *below_left, *below_right;
  std::int32_t right;
  std::int32_t below;
};

/// Computes the channels of a pixel of int8.
inline void interpolate_pixel(Corners c, std::int32_t channels, std::int8_t* output) {
  const std::int32_t left = kWeightOne - c.right;
  const std::int32_t above = kWeightOne - c.below;
  for_fours(channels, [&](std::int32_t i, auto... lanes) {
    int32x4_t top = vmulq_n_s32(load_four(c.above_left + i, lanes...), left);
    top = vmlaq_n_s32(top, load_four(c.above_right + i, lanes...), c.right);
    int32x4_t bottom = vmulq_n_s32(load_four(c.below_left + i, lanes...), left);
    bottom = vmlaq_n_s32(bottom, load_four(c.below_right + i, lanes...), c.right);
    const int32x4_t sum = vmlaq_n_s32(vmulq_n_s32(top, above), bottom, c.below);
    // vrshr rounds halves up: one less makes that "away from zero" for negative numbers.
    const int32x4_t away = vaddq_s32(sum, vshrq_n_s32(sum, 31));
    store_four(output + i, vrshrq_n_s32(away, 2 * kWeightBits), lanes...);
  });
}
#endif

/// `Sum` holds an element times kWeightOne^2.
template <typename Element, typename Sum, typename Args>
inline void resize_bilinear(const Args& a, const Bases& bases) {
  const payload::Dims& in = a.input_dims;
  const payload::Dims& out = a.output_dims;
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);

  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Neighbours rows = Neighbours::of(y, a.rows, in.h);
      const Element* above = input + rows.near * in.w * in.c;
      const Element* below = input + rows.far * in.w * in.c;
      for (std::int32_t x = 0; x < out.w; ++x) {
        const Neighbours columns = Neighbours::of(x, a.columns, in.w);
        const std::int32_t left = columns.near * in.c;
        const std::int32_t right = columns.far * in.c;
#if CMSIS_NN_DELEGATE_VECTORS
        if constexpr (sizeof(Element) == 1) {
          if (in.c > 1) {  // one channel takes longer in vectors
            interpolate_pixel({above + left, above + right, below + left, below + right,
                               columns.weight, rows.weight},
                              in.c, output);
            output += in.c;
            continue;
          }
        }
#endif
        for (std::int32_t i = 0; i < in.c; ++i) {
          const Sum top =
              above[left + i] * (kWeightOne - columns.weight) + above[right + i] * columns.weight;
          const Sum bottom =
              below[left + i] * (kWeightOne - columns.weight) + below[right + i] * columns.weight;
          *output++ =
              rounded_mean<Element>(top * (kWeightOne - rows.weight) + bottom * rows.weight);
        }
      }
    }
    input += in.h * in.w * in.c;
  }
}

}  // namespace cmsis_nn_delegate::portable
