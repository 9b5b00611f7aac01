#include "runtime/kernels/common/broadcast.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/div/div.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::DivArgs;

Error div_row(const void* args, const std::int8_t* input1, const std::int8_t* input2,
              std::int8_t* output, std::int32_t count) {
  const auto& a = *static_cast<const Args*>(args);
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t steps = quotient(input1[i] + a.input1_offset, input2[i] + a.input2_offset,
                                        a.output_multiplier, a.output_shift);
    output[i] = clamp(wrapping_add(steps, a.output_offset), a.activation);
  }
  return Error::Ok;
}

}  // namespace

Error run_div(const void* args, const Bases& bases) {
  return for_each_row(*static_cast<const Args*>(args), bases, div_row);
}

constexpr KernelOf<payload::Opcode::kDiv> kDiv = Kernel(operators::kDiv, run_div).in_place();

}  // namespace cmsis_nn_delegate::portable
