#include "runtime/kernels/common/float_math.h"
// After it: float_math.h says how all that follows is compiled.
#include "runtime/kernels/common/window.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_float32(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::Conv2dFloat32Args*>(args);
  const auto& p = a.params;
  const payload::Dims& in = a.input_dims;
  const payload::Dims& filter = a.filter_dims;
  const payload::Dims& out = a.output_dims;
  const auto* input = bases.resolve<const float>(a.input);
  const auto* const weights = bases.resolve<const float>(a.filter);
  const auto* const bias = bases.resolve<const float>(a.bias);
  auto* output = bases.resolve<float>(a.output);

  const std::int32_t channels_per_group = out.c / (in.c / filter.c);
  const std::int32_t plane = in.h * in.w;
  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t channel = 0; channel < out.c; ++channel) {
      const float* const first = input + channel / channels_per_group * filter.c * plane;
      const float* const kernel = weights + channel * filter.c * filter.h * filter.w;
      for (std::int32_t y = 0; y < out.h; ++y) {
        const Taps ty = Taps::of(y, p.stride.h, p.padding.h, p.dilation.h, filter.h, in.h);
        for (std::int32_t x = 0; x < out.w; ++x) {
          const Taps tx = Taps::of(x, p.stride.w, p.padding.w, p.dilation.w, filter.w, in.w);
          float total = bias[channel];
          for (std::int32_t i = 0; i < filter.c; ++i) {
            for (std::int32_t ky = ty.begin; ky < ty.end; ++ky) {
              const float* const row = first + i * plane + (ty.origin + ky * p.dilation.h) * in.w;
              const float* const w = kernel + (i * filter.h + ky) * filter.w;
              for (std::int32_t kx = tx.begin; kx < tx.end; ++kx) {
                total = total + row[tx.origin + kx * p.dilation.w] * w[kx];
              }
            }
          }
          *output++ = total;
        }
      }
    }
    input += in.c * plane;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kConv2dFloat32> kConv2dFloat32 =
    Kernel(operators::kConv2dFloat32, run_conv2d_float32);

}  // namespace cmsis_nn_delegate::portable
