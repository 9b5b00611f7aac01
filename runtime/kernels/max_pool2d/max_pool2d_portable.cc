#include "runtime/kernels/max_pool2d/maximum_pooling.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_max_pool2d(const void* args, const Bases& bases) {
  pool_maxima<std::int8_t>(*static_cast<const payload::MaxPool2dArgs*>(args), payload::Tile{1, 1},
                           bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kMaxPool2d> kMaxPool2d =
    Kernel(operators::kMaxPool2d, run_max_pool2d);

}  // namespace cmsis_nn_delegate::portable
