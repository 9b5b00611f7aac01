#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/resize_nearest/resize_nearest.h"

namespace cmsis_nn_delegate::portable {

Error run_resize_nearest_int16(const void* args, const Bases& bases) {
  resize_nearest<std::int16_t>(*static_cast<const payload::ResizeNearestInt16Args*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kResizeNearestInt16> kResizeNearestInt16 =
    Kernel(operators::kResizeNearestInt16, run_resize_nearest_int16);

}  // namespace cmsis_nn_delegate::portable
