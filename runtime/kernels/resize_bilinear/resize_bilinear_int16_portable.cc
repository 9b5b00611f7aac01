#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/resize_bilinear/resize_bilinear.h"

namespace cmsis_nn_delegate::portable {

Error run_resize_bilinear_int16(const void* args, const Bases& bases) {
  resize_bilinear<std::int16_t, std::int64_t>(
      *static_cast<const payload::ResizeBilinearInt16Args*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kResizeBilinearInt16> kResizeBilinearInt16 =
    Kernel(operators::kResizeBilinearInt16, run_resize_bilinear_int16);

}  // namespace cmsis_nn_delegate::portable
