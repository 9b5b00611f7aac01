#include "runtime/kernels/max_pool2d/maximum_pooling.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_max_pool2d_int16(const void* args, const Bases& bases) {
  pool_maxima<std::int16_t>(*static_cast<const payload::MaxPool2dInt16Args*>(args),
                            payload::Tile{1, 1}, bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kMaxPool2dInt16> kMaxPool2dInt16 =
    Kernel(operators::kMaxPool2dInt16, run_max_pool2d_int16);

}  // namespace cmsis_nn_delegate::portable
