#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_reduce_sum(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::ReduceSumArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  auto* output = bases.resolve<std::int8_t>(a.output);

  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    for (std::int32_t inner = 0; inner < a.inner; ++inner) {
      std::int32_t sum = 0;
      for (std::int32_t i = 0; i < a.axis; ++i) {
        sum = wrapping_add(sum, input[i * a.inner + inner] + a.input_offset);
      }
      const std::int32_t scaled = requantize(sum, a.output_multiplier, a.output_shift);
      *output++ = clamp(wrapping_add(scaled, a.output_offset), a.activation);
    }
    input += a.axis * a.inner;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kReduceSum> kReduceSum =
    Kernel(operators::kReduceSum, run_reduce_sum);

}  // namespace cmsis_nn_delegate::portable
