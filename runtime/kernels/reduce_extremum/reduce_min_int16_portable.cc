#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/reduce_extremum/reduce_extremum.h"

namespace cmsis_nn_delegate::portable {

Error run_reduce_min_int16(const void* args, const Bases& bases) {
  reduce_extremum<std::int16_t, Smallest>(*static_cast<const payload::ReduceMinInt16Args*>(args),
                                          bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kReduceMinInt16> kReduceMinInt16 =
    Kernel(operators::kReduceMinInt16, run_reduce_min_int16);

}  // namespace cmsis_nn_delegate::portable
