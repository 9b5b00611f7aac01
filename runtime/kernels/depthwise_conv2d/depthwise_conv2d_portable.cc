#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/window.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

/// How many channels are summed at once; their accumulators stay on the stack.
constexpr std::int32_t kBlock = 16;

}  // namespace

Error run_depthwise_conv2d(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dArgs*>(args);
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

  // Output channels come in runs in which the input index advances by `step`: one run of all
  // channels with step 1 or, with a channel multiplier, one run with step 0 per input channel.
  const std::int32_t runs = p.ch_mult == 1 ? 1 : in.c;
  const std::int32_t run_length = p.ch_mult == 1 ? in.c : p.ch_mult;
  const std::int32_t step = p.ch_mult == 1 ? 1 : 0;

  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Taps ty = Taps::of(y, p.stride.h, p.padding.h, p.dilation.h, filter.h, in.h);
      for (std::int32_t x = 0; x < out.w; ++x) {
        const Taps tx = Taps::of(x, p.stride.w, p.padding.w, p.dilation.w, filter.w, in.w);
        std::int32_t channel = 0;
        for (std::int32_t run = 0; run < runs; ++run) {
          const std::int32_t run_end = channel + run_length;
          for (std::int32_t done = 0; channel < run_end; done += kBlock) {
            const std::int32_t left = run_end - channel;
            const std::int32_t count = left < kBlock ? left : kBlock;
            std::uint32_t acc[kBlock];
            for (std::int32_t i = 0; i < count; ++i) {
              acc[i] = static_cast<std::uint32_t>(bias[channel + i]);
            }
            for (std::int32_t ky = ty.begin; ky < ty.end; ++ky) {
              for (std::int32_t kx = tx.begin; kx < tx.end; ++kx) {
                const std::int8_t* w = weights + (ky * filter.w + kx) * out.c + channel;
                const std::int8_t* v =
                    input +
                    ((ty.origin + ky * p.dilation.h) * in.w + tx.origin + kx * p.dilation.w) *
                        in.c +
                    run + done * step;
                for (std::int32_t i = 0; i < count; ++i) {
                  acc[i] += static_cast<std::uint32_t>(w[i] * (*v + p.input_offset));
                  v += step;
                }
              }
            }
            for (std::int32_t i = 0; i < count; ++i, ++channel) {
              const std::int32_t value = requantize(static_cast<std::int32_t>(acc[i]),
                                                    multiplier[channel], shift[channel]);
              *output++ = clamp(wrapping_add(value, p.output_offset), p.activation);
            }
          }
        }
      }
    }
    input += in.h * in.w * in.c;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2d> kDepthwiseConv2d =
    Kernel(operators::kDepthwiseConv2d, run_depthwise_conv2d);

}  // namespace cmsis_nn_delegate::portable
