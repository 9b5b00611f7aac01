#include "runtime/kernels/common/arg_extremum.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_argmin_int16(const void* args, const Bases& bases) {
  arg_extremum<std::int16_t>(*static_cast<const payload::ArgminInt16Args*>(args), bases,
                             [](auto a, auto b) { return a < b; });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kArgminInt16> kArgminInt16 =
    Kernel(operators::kArgminInt16, run_argmin_int16);

}  // namespace cmsis_nn_delegate::portable
