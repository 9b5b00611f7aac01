#include "runtime/kernels/common/held.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_recall(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::RecallArgs*>(args);
  const InitialBytes initial(bases.resolve<const std::uint8_t>(a.initial), a.initial_bytes,
                             a.nbytes);
  copy_held(bases.resolve<const std::uint8_t>(a.state), initial, 0,
            bases.resolve<std::uint8_t>(a.output), a.nbytes);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kRecall> kRecall = Kernel(operators::kRecall, run_recall);

}  // namespace cmsis_nn_delegate::portable
