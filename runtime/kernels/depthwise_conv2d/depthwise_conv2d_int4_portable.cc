#include "runtime/kernels/common/nibbles.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/window.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_int4(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dInt4Args*>(args);
  const auto& p = a.params;
  const payload::PackedDims& in = a.input_dims;
  const payload::PackedDims& filter = a.filter_dims;
  const payload::PackedDims& out = a.output_dims;
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* weights = bases.resolve<const std::int8_t>(a.filter);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  const auto* multiplier = bases.resolve<const std::int32_t>(a.multiplier);
  const auto* shift = bases.resolve<const std::int32_t>(a.shift);
  auto* output = bases.resolve<std::int8_t>(a.output);

  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Taps ty = Taps::of(y, p.stride.h, p.padding.h, p.dilation.h, filter.h, in.h);
      for (std::int32_t x = 0; x < out.w; ++x) {
        const Taps tx = Taps::of(x, p.stride.w, p.padding.w, p.dilation.w, filter.w, in.w);
        std::int32_t channel = 0;
        for (std::int32_t source = 0; source < in.c; ++source) {
          for (const std::int32_t end = channel + p.ch_mult; channel < end; ++channel) {
            auto acc = static_cast<std::uint32_t>(bias[channel]);
            for (std::int32_t ky = ty.begin; ky < ty.end; ++ky) {
              const std::int32_t row = (ty.origin + ky * p.dilation.h) * in.w + tx.origin;
              for (std::int32_t kx = tx.begin; kx < tx.end; ++kx) {
                const std::int32_t weight = nibble(
                    weights, static_cast<std::uint32_t>((ky * filter.w + kx) * out.c + channel));
                const std::int8_t value = input[(row + kx * p.dilation.w) * in.c + source];
                acc += static_cast<std::uint32_t>(weight * (value + p.input_offset));
              }
            }
            const std::int32_t value =
                requantize(static_cast<std::int32_t>(acc), multiplier[channel], shift[channel]);
            *output++ = clamp(wrapping_add(value, p.output_offset), p.activation);
          }
        }
      }
    }
    input += in.h * in.w * in.c;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dInt4> kDepthwiseConv2dInt4 =
    Kernel(operators::kDepthwiseConv2dInt4, run_depthwise_conv2d_int4);

}  // namespace cmsis_nn_delegate::portable
