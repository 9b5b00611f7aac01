#include "runtime/kernels/common/held.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_keep(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::KeepArgs*>(args);
  const InitialBytes initial(bases.resolve<const std::uint8_t>(a.initial), a.initial_bytes,
                             a.nbytes);
  copy_held(bases.resolve<const std::uint8_t>(a.input), initial, 0,
            bases.resolve<std::uint8_t>(a.state), a.nbytes);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kKeep> kKeep = Kernel(operators::kKeep, run_keep);

}  // namespace cmsis_nn_delegate::portable
