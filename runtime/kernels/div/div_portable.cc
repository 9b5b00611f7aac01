#include "runtime/kernels/common/broadcast.h"
#include "runtime/kernels/div/div.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::DivArgs;

Error div_row(const void* args, const std::int8_t* input1, const std::int8_t* input2,
              std::int8_t* output, std::int32_t count) {
  const auto& a = *static_cast<const Args*>(args);
  divide_row(Quotients<payload::Activation>{a.output_multiplier, a.output_shift, a.input1_offset,
                                            a.input2_offset, a.output_offset, a.activation},
             input1, input2, output, count);
  return Error::Ok;
}

}  // namespace

Error run_div(const void* args, const Bases& bases) {
  return for_each_row(*static_cast<const Args*>(args), bases, div_row);
}

constexpr KernelOf<payload::Opcode::kDiv> kDiv = Kernel(operators::kDiv, run_div).in_place();

}  // namespace cmsis_nn_delegate::portable
