#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/reduce_extremum/reduce_extremum.h"

namespace cmsis_nn_delegate::portable {

Error run_reduce_max(const void* args, const Bases& bases) {
  reduce_extremum<std::int8_t, Largest>(*static_cast<const payload::ReduceMaxArgs*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kReduceMax> kReduceMax =
    Kernel(operators::kReduceMax, run_reduce_max);

}  // namespace cmsis_nn_delegate::portable
