#include "runtime/kernels/common/arg_extremum.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_argmax_float32(const void* args, const Bases& bases) {
  arg_extremum<float>(*static_cast<const payload::ArgmaxFloat32Args*>(args), bases,
                      [](float a, float b) { return a > b; });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kArgmaxFloat32> kArgmaxFloat32 =
    Kernel(operators::kArgmaxFloat32, run_argmax_float32);

}  // namespace cmsis_nn_delegate::portable
