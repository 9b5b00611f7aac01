#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/resize_nearest/resize_nearest.h"

namespace cmsis_nn_delegate::portable {

Error run_resize_nearest(const void* args, const Bases& bases) {
  resize_nearest<std::int8_t>(*static_cast<const payload::ResizeNearestArgs*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kResizeNearest> kResizeNearest =
    Kernel(operators::kResizeNearest, run_resize_nearest);

}  // namespace cmsis_nn_delegate::portable
