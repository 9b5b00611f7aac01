#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/portable/requantize.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

Error run_add(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::AddArgs*>(args);
  const auto* input1 = bases.resolve<const std::int8_t>(a.input1);
  const auto* input2 = bases.resolve<const std::int8_t>(a.input2);
  auto* output = bases.resolve<std::int8_t>(a.output);  // may be an input

  for (std::int32_t i = 0; i < a.count; ++i) {
    const std::int32_t scaled1 =
        requantize(wrapping_shift_left(input1[i] + a.input1_offset, a.left_shift),
                   a.input1_multiplier, a.input1_shift);
    const std::int32_t scaled2 =
        requantize(wrapping_shift_left(input2[i] + a.input2_offset, a.left_shift),
                   a.input2_multiplier, a.input2_shift);
    const std::int32_t sum =
        requantize(wrapping_add(scaled1, scaled2), a.output_multiplier, a.output_shift);
    output[i] = clamp(wrapping_add(sum, a.output_offset), a.activation);
  }
  return Error::Ok;
}

}  // namespace

constexpr KernelOf<payload::Opcode::kAdd> kAdd = Kernel(operators::kAdd, run_add).in_place();

}  // namespace portable
}  // namespace cmsis_nn_delegate
