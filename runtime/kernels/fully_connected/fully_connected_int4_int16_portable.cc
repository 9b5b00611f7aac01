#include "runtime/kernels/common/nibbles.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_int4_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedInt4Int16Args*>(args);
  const auto* input = bases.resolve<const std::int16_t>(a.input);
  const auto* weights = bases.resolve<const std::int8_t>(a.filter);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  const auto* multiplier = bases.resolve<const std::int32_t>(a.multiplier);
  const auto* shift = bases.resolve<const std::int32_t>(a.shift);
  auto* output = bases.resolve<std::int16_t>(a.output);
  for (std::int32_t n = 0; n < a.batch; ++n) {
    std::uint32_t first = 0;  // weight of the row
    for (std::int32_t channel = 0; channel < a.outputs; ++channel) {
      const auto sum = static_cast<std::int32_t>(
          add_nibble_products(static_cast<std::uint32_t>(bias[channel]), weights, first, input,
                              /*offset=*/0, a.inputs));
      first += static_cast<std::uint32_t>(a.inputs);
      const std::int32_t value = requantize(sum, multiplier[channel], shift[channel]);
      *output++ = clamp_to<std::int16_t>(value, a.activation);
    }
    input += a.inputs;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4Int16> kFullyConnectedInt4Int16 =
    Kernel(operators::kFullyConnectedInt4Int16, run_fully_connected_int4_int16);

}  // namespace cmsis_nn_delegate::portable
