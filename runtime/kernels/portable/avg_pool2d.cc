#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/portable/requantize.h"
#include "runtime/kernels/portable/window.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

/// How many channels are summed at once; their sums stay on the stack.
constexpr std::int32_t kBlock = 16;

Error run_avg_pool2d(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::AvgPool2dArgs*>(args);
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
        const std::int32_t taps = (ty.end - ty.begin) * (tx.end - tx.begin);  // >= 1
        for (std::int32_t channel = 0; channel < in.c; channel += kBlock) {
          const std::int32_t left = in.c - channel;
          const std::int32_t count = left < kBlock ? left : kBlock;
          std::int32_t sum[kBlock] = {};
          for (std::int32_t ky = ty.begin; ky < ty.end; ++ky) {
            const std::int8_t* v =
                input + ((ty.origin + ky) * in.w + tx.origin + tx.begin) * in.c + channel;
            for (std::int32_t kx = tx.begin; kx < tx.end; ++kx, v += in.c) {
              for (std::int32_t i = 0; i < count; ++i) {
                sum[i] = wrapping_add(sum[i], v[i]);
              }
            }
          }
          for (std::int32_t i = 0; i < count; ++i) {
            const std::int32_t half = taps / 2;
            const std::int32_t rounded =
                sum[i] > 0 ? wrapping_add(sum[i], half) : wrapping_sub(sum[i], half);
            *output++ = clamp(rounded / taps, p.activation);
          }
        }
      }
    }
    input += in.h * in.w * in.c;
  }
  return Error::Ok;
}

}  // namespace

constexpr KernelOf<payload::Opcode::kAvgPool2d> kAvgPool2d =
    Kernel(operators::kAvgPool2d, run_avg_pool2d);

}  // namespace portable
}  // namespace cmsis_nn_delegate
