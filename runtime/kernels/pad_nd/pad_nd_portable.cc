#include "runtime/kernels/pad_nd/pad_nd.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_pad_nd(const void* args, const Bases& bases) {
  pad_dimensions<std::int8_t>(*static_cast<const payload::PadNdArgs*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kPadNd> kPadNd = Kernel(operators::kPadNd, run_pad_nd);

}  // namespace cmsis_nn_delegate::portable
