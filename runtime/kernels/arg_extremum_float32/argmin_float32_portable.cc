#include "runtime/kernels/common/arg_extremum.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_argmin_float32(const void* args, const Bases& bases) {
  arg_extremum<float>(*static_cast<const payload::ArgminFloat32Args*>(args), bases,
                      [](float a, float b) { return a < b; });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kArgminFloat32> kArgminFloat32 =
    Kernel(operators::kArgminFloat32, run_argmin_float32);

}  // namespace cmsis_nn_delegate::portable
