#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_dequantize(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::DequantizeArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  auto* output = bases.resolve<float>(a.output);

  for (std::int32_t n = 0; n < a.batch; ++n) {
    for (std::int32_t channel = 0; channel < a.channels; ++channel) {
      const std::int8_t* in = input + channel;
      for (std::int32_t pixel = 0; pixel < a.pixels; ++pixel) {
        *output++ = static_cast<float>(*in - a.zero_point) * a.scale;
        in += a.channels;
      }
    }
    input += a.channels * a.pixels;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kDequantize> kDequantize =
    Kernel(operators::kDequantize, run_dequantize);

}  // namespace cmsis_nn_delegate::portable
