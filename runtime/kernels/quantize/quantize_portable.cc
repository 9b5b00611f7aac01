#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/quantize/round_half_even.h"

namespace cmsis_nn_delegate::portable {
Error run_quantize(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::QuantizeArgs*>(args);
  const auto* input = bases.resolve<const float>(a.input);
  auto* output = bases.resolve<std::int8_t>(a.output);
  constexpr payload::Activation kInt8 = {-128, 127};

  for (std::int32_t n = 0; n < a.batch; ++n) {
    for (std::int32_t channel = 0; channel < a.channels; ++channel) {
      std::int8_t* out = output + channel;
      for (std::int32_t pixel = 0; pixel < a.pixels; ++pixel) {
        *out = clamp(round_half_even<9>(*input++ * a.inverse_scale) + a.zero_point, kInt8);
        out += a.channels;
      }
    }
    output += a.channels * a.pixels;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kQuantize> kQuantize =
    Kernel(operators::kQuantize, run_quantize);

}  // namespace cmsis_nn_delegate::portable
