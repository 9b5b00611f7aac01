#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/portable/requantize.h"
#include "runtime/kernels/portable/window.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

Error run_max_pool2d(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MaxPool2dArgs*>(args);
  const auto& p = a.params;
  const payload::Dims& in = a.input_dims;
  const payload::Dims& out = a.output_dims;
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  auto* output = bases.resolve<std::int8_t>(a.output);

  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Taps ty = Taps::of(y, p.stride.h, p.padding.h, 1, a.filter_dims.h, in.h);
      for (std::int32_t x = 0; x < out.w; ++x) {
        const Taps tx = Taps::of(x, p.stride.w, p.padding.w, 1, a.filter_dims.w, in.w);
        // Starting from the lower limit leaves only the upper one to apply.
        for (std::int32_t i = 0; i < in.c; ++i) {
          output[i] = static_cast<std::int8_t>(p.activation.min);
        }
        for (std::int32_t ky = ty.begin; ky < ty.end; ++ky) {
          const std::int8_t* v = input + ((ty.origin + ky) * in.w + tx.origin + tx.begin) * in.c;
          for (std::int32_t kx = tx.begin; kx < tx.end; ++kx, v += in.c) {
            for (std::int32_t i = 0; i < in.c; ++i) {
              output[i] = v[i] > output[i] ? v[i] : output[i];
            }
          }
        }
        for (std::int32_t i = 0; i < in.c; ++i) {
          output[i] = clamp(output[i], p.activation);
        }
        output += in.c;
      }
    }
    input += in.h * in.w * in.c;
  }
  return Error::Ok;
}

}  // namespace

constexpr KernelOf<payload::Opcode::kMaxPool2d> kMaxPool2d =
    Kernel(operators::kMaxPool2d, run_max_pool2d);

}  // namespace portable
}  // namespace cmsis_nn_delegate
