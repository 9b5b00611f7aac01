#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/reduce_extremum/reduce_extremum.h"

namespace cmsis_nn_delegate::portable {

Error run_reduce_max_int16(const void* args, const Bases& bases) {
  reduce_extremum<std::int16_t, Largest>(*static_cast<const payload::ReduceMaxInt16Args*>(args),
                                         bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kReduceMaxInt16> kReduceMaxInt16 =
    Kernel(operators::kReduceMaxInt16, run_reduce_max_int16);

}  // namespace cmsis_nn_delegate::portable
