#include "runtime/kernels/common/nibbles.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/window.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_int4(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::Conv2dInt4Args*>(args);
  const auto& p = a.params;
  const auto& in = a.input_dims;
  const auto& filter = a.filter_dims;
  const auto& out = a.output_dims;
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* weights = bases.resolve<const std::int8_t>(a.filter);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  const auto* multiplier = bases.resolve<const std::int32_t>(a.multiplier);
  const auto* shift = bases.resolve<const std::int32_t>(a.shift);
  auto* output = bases.resolve<std::int8_t>(a.output);
  const std::int32_t channels_per_group = out.c / (in.c / filter.c);
  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Taps ty = Taps::of(y, p.stride.h, p.padding.h, p.dilation.h, filter.h, in.h);
      for (std::int32_t x = 0; x < out.w; ++x) {
        const Taps tx = Taps::of(x, p.stride.w, p.padding.w, p.dilation.w, filter.w, in.w);
        std::int32_t first = 0;  // weight of the filter
        for (std::int32_t channel = 0; channel < out.c; ++channel) {
          const std::int8_t* group = input + channel / channels_per_group * filter.c;
          auto acc = static_cast<std::uint32_t>(bias[channel]);
          for (std::int32_t ky = ty.begin; ky < ty.end; ++ky) {
            for (std::int32_t kx = tx.begin; kx < tx.end; ++kx) {
              const std::int32_t pixel =
                  (ty.origin + ky * p.dilation.h) * in.w + tx.origin + kx * p.dilation.w;
              acc = add_nibble_products(
                  acc, weights, static_cast<std::uint32_t>(first + (ky * filter.w + kx) * filter.c),
                  group + pixel * in.c, p.input_offset, filter.c);
            }
          }
          const std::int32_t value =
              requantize(static_cast<std::int32_t>(acc), multiplier[channel], shift[channel]);
          *output++ = clamp(wrapping_add(value, p.output_offset), p.activation);
          first += filter.h * filter.w * filter.c;
        }
      }
    }
    input += in.h * in.w * in.c;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kConv2dInt4> kConv2dInt4 =
    Kernel(operators::kConv2dInt4, run_conv2d_int4);

}  // namespace cmsis_nn_delegate::portable
