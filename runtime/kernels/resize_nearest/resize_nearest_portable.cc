#include <cstring>

#include "runtime/kernels/common/resize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_resize_nearest(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::ResizeNearestArgs*>(args);
  const payload::Dims& in = a.input_dims;
  const payload::Dims& out = a.output_dims;
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  auto* output = bases.resolve<std::int8_t>(a.output);

  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const std::int8_t* row = input + place_of<0>(y, a.rows, in.h) * in.w * in.c;
      for (std::int32_t x = 0; x < out.w; ++x) {
        std::memcpy(output, row + place_of<0>(x, a.columns, in.w) * in.c,
                    static_cast<std::size_t>(in.c));
        output += in.c;
      }
    }
    input += in.h * in.w * in.c;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kResizeNearest> kResizeNearest =
    Kernel(operators::kResizeNearest, run_resize_nearest);

}  // namespace cmsis_nn_delegate::portable
