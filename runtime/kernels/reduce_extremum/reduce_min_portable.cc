#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/reduce_extremum/reduce_extremum.h"

namespace cmsis_nn_delegate::portable {

Error run_reduce_min(const void* args, const Bases& bases) {
  reduce_extremum<std::int8_t, Smallest>(*static_cast<const payload::ReduceMinArgs*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kReduceMin> kReduceMin =
    Kernel(operators::kReduceMin, run_reduce_min);

}  // namespace cmsis_nn_delegate::portable
