#include "runtime/kernels/add/add.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_add(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::AddArgs*>(args);
  add_elements(a, bases.resolve<const std::int8_t>(a.input1),
               bases.resolve<const std::int8_t>(a.input2), bases.resolve<std::int8_t>(a.output),
               a.count);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kAdd> kAdd = Kernel(operators::kAdd, run_add).in_place();

}  // namespace cmsis_nn_delegate::portable
