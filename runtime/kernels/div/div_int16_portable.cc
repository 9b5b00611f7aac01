#include "runtime/kernels/common/broadcast_int16.h"
#include "runtime/kernels/div/div.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::DivInt16Args;

Error div_row(const void* args, const std::int16_t* input1, const std::int16_t* input2,
              std::int16_t* output, std::int32_t count) {
  const auto& a = *static_cast<const Args*>(args);
  divide_row(Quotients<payload::ActivationInt16>{a.output_multiplier, a.output_shift, 0, 0, 0,
                                                 a.activation},
             input1, input2, output, count);
  return Error::Ok;
}

}  // namespace

Error run_div_int16(const void* args, const Bases& bases) {
  return for_each_row(*static_cast<const Args*>(args), bases, div_row);
}

constexpr KernelOf<payload::Opcode::kDivInt16> kDivInt16 =
    Kernel(operators::kDivInt16, run_div_int16).in_place();

}  // namespace cmsis_nn_delegate::portable
