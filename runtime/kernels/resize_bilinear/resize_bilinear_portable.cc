#include "runtime/kernels/common/resize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

constexpr int kWeightBits = 10;
constexpr std::int32_t kOne = 1 << kWeightBits;

/// Two neighbours along one axis, and the weight of the second out of kOne.
struct Neighbours {
  std::int32_t near;
  std::int32_t far;
  std::int32_t weight;

  static Neighbours of(std::int32_t index, const payload::ResizeAxis& axis, std::int32_t size) {
    const std::int32_t place = place_of<kWeightBits>(index, axis, size);
    const std::int32_t near = place >> kWeightBits;
    return {near, near < size - 1 ? near + 1 : near, place & (kOne - 1)};
  }
};

/// value / kOne^2, halves away from zero.
std::int8_t rounded(std::int32_t value) {
  constexpr int kBits = 2 * kWeightBits;
  constexpr std::int32_t kHalf = 1 << (kBits - 1);
  return static_cast<std::int8_t>((value + kHalf - (value < 0 ? 1 : 0)) >> kBits);
}

}  // namespace

Error run_resize_bilinear(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::ResizeBilinearArgs*>(args);
  const payload::Dims& in = a.input_dims;
  const payload::Dims& out = a.output_dims;
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  auto* output = bases.resolve<std::int8_t>(a.output);

  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Neighbours rows = Neighbours::of(y, a.rows, in.h);
      const std::int8_t* above = input + rows.near * in.w * in.c;
      const std::int8_t* below = input + rows.far * in.w * in.c;
      for (std::int32_t x = 0; x < out.w; ++x) {
        const Neighbours columns = Neighbours::of(x, a.columns, in.w);
        const std::int32_t left = columns.near * in.c;
        const std::int32_t right = columns.far * in.c;
        for (std::int32_t i = 0; i < in.c; ++i) {
          const std::int32_t top =
              above[left + i] * (kOne - columns.weight) + above[right + i] * columns.weight;
          const std::int32_t bottom =
              below[left + i] * (kOne - columns.weight) + below[right + i] * columns.weight;
          *output++ = rounded(top * (kOne - rows.weight) + bottom * rows.weight);
        }
      }
    }
    input += in.h * in.w * in.c;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kResizeBilinear> kResizeBilinear =
    Kernel(operators::kResizeBilinear, run_resize_bilinear);

}  // namespace cmsis_nn_delegate::portable
