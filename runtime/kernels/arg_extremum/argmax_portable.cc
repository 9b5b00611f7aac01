#include "runtime/kernels/common/arg_extremum.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_argmax(const void* args, const Bases& bases) {
  arg_extremum<std::int8_t>(*static_cast<const payload::ArgmaxArgs*>(args), bases,
                            [](auto a, auto b) { return a > b; });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kArgmax> kArgmax = Kernel(operators::kArgmax, run_argmax);

}  // namespace cmsis_nn_delegate::portable
