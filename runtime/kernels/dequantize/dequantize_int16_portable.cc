#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_dequantize_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::DequantizeInt16Args*>(args);
  const auto* input = bases.resolve<const std::int16_t>(a.input);
  auto* output = bases.resolve<float>(a.output);
  for (std::int32_t n = 0; n < a.batch; ++n) {
    for (std::int32_t channel = 0; channel < a.channels; ++channel) {
      for (std::int32_t pixel = 0; pixel < a.pixels; ++pixel) {
        *output++ = static_cast<float>(input[pixel * a.channels + channel]) * a.scale;
      }
    }
    input += a.channels * a.pixels;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kDequantizeInt16> kDequantizeInt16 =
    Kernel(operators::kDequantizeInt16, run_dequantize_int16);

}  // namespace cmsis_nn_delegate::portable
