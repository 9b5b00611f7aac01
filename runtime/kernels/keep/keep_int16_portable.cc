#include "runtime/kernels/common/held.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {

Error run_keep_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::KeepInt16Args*>(args);
  copy_held<std::uint16_t>(a, bases, a.input, a.state, /*sign=*/-1);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kKeepInt16> kKeepInt16 =
    Kernel(operators::kKeepInt16, run_keep_int16);

}  // namespace portable
}  // namespace cmsis_nn_delegate
