#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/quantize/round_half_even.h"

namespace cmsis_nn_delegate::portable {

Error run_quantize_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::QuantizeInt16Args*>(args);
  const auto* input = bases.resolve<const float>(a.input);
  auto* output = bases.resolve<std::int16_t>(a.output);
  for (std::int32_t n = 0; n < a.batch; ++n) {
    for (std::int32_t channel = 0; channel < a.channels; ++channel) {
      for (std::int32_t pixel = 0; pixel < a.pixels; ++pixel) {
        const std::int32_t value = round_half_even<17>(*input++ * a.inverse_scale);
        output[pixel * a.channels + channel] =
            static_cast<std::int16_t>(value < INT16_MIN   ? INT16_MIN
                                      : value > INT16_MAX ? INT16_MAX
                                                          : value);
      }
    }
    output += a.channels * a.pixels;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kQuantizeInt16> kQuantizeInt16 =
    Kernel(operators::kQuantizeInt16, run_quantize_int16);

}  // namespace cmsis_nn_delegate::portable
