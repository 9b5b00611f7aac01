#include "runtime/kernels/add/add.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_add_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::AddInt16Args*>(args);
  add_elements(a, bases.resolve<const std::int16_t>(a.input1),
               bases.resolve<const std::int16_t>(a.input2), bases.resolve<std::int16_t>(a.output),
               a.count);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kAddInt16> kAddInt16 =
    Kernel(operators::kAddInt16, run_add_int16).in_place();

}  // namespace cmsis_nn_delegate::portable
