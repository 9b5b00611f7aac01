#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/portable/requantize.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

Error run_mul(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MulArgs*>(args);
  const auto* input1 = bases.resolve<const std::int8_t>(a.input1);
  const auto* input2 = bases.resolve<const std::int8_t>(a.input2);
  auto* output = bases.resolve<std::int8_t>(a.output);  // may be an input

  for (std::int32_t i = 0; i < a.count; ++i) {
    const std::int32_t product = (input1[i] + a.input1_offset) * (input2[i] + a.input2_offset);
    const std::int32_t scaled = requantize(product, a.output_multiplier, a.output_shift);
    output[i] = clamp(wrapping_add(scaled, a.output_offset), a.activation);
  }
  return Error::Ok;
}

}  // namespace

constexpr KernelOf<payload::Opcode::kMul> kMul = Kernel(operators::kMul, run_mul).in_place();

}  // namespace portable
}  // namespace cmsis_nn_delegate
