#include "runtime/kernels/pad_nd/pad_nd.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_pad_nd_int16(const void* args, const Bases& bases) {
  pad_dimensions<std::int16_t>(*static_cast<const payload::PadNdInt16Args*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kPadNdInt16> kPadNdInt16 =
    Kernel(operators::kPadNdInt16, run_pad_nd_int16);

}  // namespace cmsis_nn_delegate::portable
