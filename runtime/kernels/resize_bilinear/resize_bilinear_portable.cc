#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/resize_bilinear/resize_bilinear.h"

namespace cmsis_nn_delegate::portable {

Error run_resize_bilinear(const void* args, const Bases& bases) {
  resize_bilinear<std::int8_t, std::int32_t>(*static_cast<const payload::ResizeBilinearArgs*>(args),
                                             bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kResizeBilinear> kResizeBilinear =
    Kernel(operators::kResizeBilinear, run_resize_bilinear);

}  // namespace cmsis_nn_delegate::portable
