#include "runtime/kernels/common/held.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {

Error run_recall_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::RecallInt16Args*>(args);
  copy_held<std::uint16_t>(a, bases, a.state, a.output, /*sign=*/1);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kRecallInt16> kRecallInt16 =
    Kernel(operators::kRecallInt16, run_recall_int16);

}  // namespace portable
}  // namespace cmsis_nn_delegate
