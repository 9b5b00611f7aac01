#include "runtime/kernels/nms/nms.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_nms_int16(const void* args, const Bases& bases) {
  non_maximum_suppression<std::int16_t>(*static_cast<const payload::NmsInt16Args*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kNmsInt16> kNmsInt16 =
    Kernel(operators::kNmsInt16, run_nms_int16, nms_scratch_bytes<payload::NmsInt16Args>);

}  // namespace cmsis_nn_delegate::portable
