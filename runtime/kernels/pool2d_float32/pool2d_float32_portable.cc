#include "runtime/kernels/common/float_math.h"
// After it: float_math.h says how all that follows is compiled.
#include "runtime/kernels/common/window.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_pool2d_float32(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::Pool2dFloat32Args*>(args);
  const auto& p = a.params;
  const payload::Dims& in = a.input_dims;
  const payload::Dims& filter = a.filter_dims;
  const payload::Dims& out = a.output_dims;
  const auto* input = bases.resolve<const float>(a.input);
  auto* output = bases.resolve<float>(a.output);
  for (std::int32_t image = 0; image < out.n * out.c; ++image) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Taps ty = Taps::of(y, p.stride.h, p.padding.h, 1, filter.h, in.h);
      for (std::int32_t x = 0; x < out.w; ++x) {
        const Taps tx = Taps::of(x, p.stride.w, p.padding.w, 1, filter.w, in.w);
        float most = -real::infinity();
        float total = 0;
        for (std::int32_t ky = ty.begin; ky < ty.end; ++ky) {
          float row = 0;
          for (std::int32_t kx = tx.begin; kx < tx.end; ++kx) {
            const float value = input[(ty.origin + ky) * in.w + tx.origin + kx];
            row = row + value;
            most = value > most ? value : most;
          }
          total = total + row;
        }
        const std::int32_t count = (ty.end - ty.begin) * (tx.end - tx.begin);
        const float divisor = a.divisor != 0 ? a.divisor : static_cast<float>(count);
        *output++ = a.average != 0 ? total / divisor : most;
      }
    }
    input += in.h * in.w;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kPool2dFloat32> kPool2dFloat32 =
    Kernel(operators::kPool2dFloat32, run_pool2d_float32);

}  // namespace cmsis_nn_delegate::portable
