#include "runtime/kernels/pad_nd/pad_nd.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_pad_nd_float32(const void* args, const Bases& bases) {
  pad_dimensions<float>(*static_cast<const payload::PadNdFloat32Args*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kPadNdFloat32> kPadNdFloat32 =
    Kernel(operators::kPadNdFloat32, run_pad_nd_float32);

}  // namespace cmsis_nn_delegate::portable
