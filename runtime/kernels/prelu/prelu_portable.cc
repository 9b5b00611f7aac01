#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_prelu(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::PreluArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* slopes = bases.resolve<const std::int8_t>(a.slopes);
  auto* output = bases.resolve<std::int8_t>(a.output);  // may be the input

  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    for (std::int32_t channel = 0; channel < a.channels; ++channel) {
      const std::int32_t slope = slopes[channel] + a.slope_offset;
      for (std::int32_t inner = 0; inner < a.inner; ++inner) {
        const std::int32_t value = *input++ + a.input_offset;
        const std::int32_t scaled =
            value >= 0 ? requantize(value, a.positive_multiplier, a.positive_shift)
                       : requantize(value * slope, a.negative_multiplier, a.negative_shift);
        *output++ = clamp(wrapping_add(scaled, a.output_offset), a.activation);
      }
    }
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kPrelu> kPrelu =
    Kernel(operators::kPrelu, run_prelu).in_place();

}  // namespace cmsis_nn_delegate::portable
