#include "runtime/kernels/nms/nms.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_nms(const void* args, const Bases& bases) {
  non_maximum_suppression<std::int8_t>(*static_cast<const payload::NmsArgs*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kNms> kNms =
    Kernel(operators::kNms, run_nms, nms_scratch_bytes<payload::NmsArgs>);

}  // namespace cmsis_nn_delegate::portable
