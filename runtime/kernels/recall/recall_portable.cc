#include "runtime/kernels/common/held.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {

Error run_recall(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::RecallArgs*>(args);
  copy_held(a, bases, a.state, a.output);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kRecall> kRecall = Kernel(operators::kRecall, run_recall);

}  // namespace portable
}  // namespace cmsis_nn_delegate
