#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/prelu/prelu.h"

namespace cmsis_nn_delegate::portable {

Error run_prelu(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::PreluArgs*>(args);
  prelu_elements<std::int8_t>(a, bases, {a.input_offset, a.slope_offset, a.output_offset});
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kPrelu> kPrelu =
    Kernel(operators::kPrelu, run_prelu).in_place();

}  // namespace cmsis_nn_delegate::portable
