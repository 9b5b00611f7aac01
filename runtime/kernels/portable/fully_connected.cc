#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/portable/requantize.h"

namespace cmsis_nn_delegate {
namespace portable {

Error fully_connected(const void* args, std::uint8_t* const* bases) {
  const auto& a = *static_cast<const payload::FullyConnectedArgs*>(args);
  const auto& p = a.params;
  const auto* input = resolve<const std::int8_t>(bases, a.input);
  const auto* weights = resolve<const std::int8_t>(bases, a.filter);
  const auto* bias = resolve<const std::int32_t>(bases, a.bias);
  const auto* multiplier = resolve<const std::int32_t>(bases, a.multiplier);
  const auto* shift = resolve<const std::int32_t>(bases, a.shift);
  auto* output = resolve<std::int8_t>(bases, a.output);
  const std::int32_t batch = a.input_dims.n;
  const std::int32_t inputs = a.filter_dims.n;
  const std::int32_t outputs = a.filter_dims.c;

  for (std::int32_t n = 0; n < batch; ++n) {
    const std::int8_t* row = weights;
    for (std::int32_t channel = 0; channel < outputs; ++channel) {
      auto acc = static_cast<std::uint32_t>(bias[channel]);
      for (std::int32_t i = 0; i < inputs; ++i) {
        acc += static_cast<std::uint32_t>(row[i] * input[i]);
      }
      row += inputs;
      const std::int32_t value =
          requantize(static_cast<std::int32_t>(acc), multiplier[channel], shift[channel]);
      *output++ = clamp(wrapping_add(value, p.output_offset), p.activation);
    }
    input += inputs;
  }
  return Error::Ok;
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
