#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedInt16Args*>(args);
  const auto* input = bases.resolve<const std::int16_t>(a.input);
  const auto* weights = bases.resolve<const std::int8_t>(a.filter);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  const auto* multiplier = bases.resolve<const std::int32_t>(a.multiplier);
  const auto* shift = bases.resolve<const std::int32_t>(a.shift);
  auto* output = bases.resolve<std::int16_t>(a.output);
  for (std::int32_t n = 0; n < a.batch; ++n) {
    const std::int8_t* row = weights;
    for (std::int32_t channel = 0; channel < a.outputs; ++channel) {
      auto sum = static_cast<std::uint32_t>(bias[channel]);
      for (std::int32_t i = 0; i < a.inputs; ++i) {
        sum += static_cast<std::uint32_t>(row[i] * input[i]);
      }
      row += a.inputs;
      const std::int32_t value =
          requantize(static_cast<std::int32_t>(sum), multiplier[channel], shift[channel]);
      *output++ = clamp_to<std::int16_t>(value, a.activation);
    }
    input += a.inputs;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt16> kFullyConnectedInt16 =
    Kernel(operators::kFullyConnectedInt16, run_fully_connected_int16);

}  // namespace cmsis_nn_delegate::portable
