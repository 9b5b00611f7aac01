#include "runtime/kernels/common/held.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {

Error run_keep(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::KeepArgs*>(args);
  copy_held(a, bases, a.input, a.state);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kKeep> kKeep = Kernel(operators::kKeep, run_keep);

}  // namespace portable
}  // namespace cmsis_nn_delegate
