#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/reduce_sum/reduce_sum.h"

namespace cmsis_nn_delegate::portable {

Error run_reduce_sum_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::ReduceSumInt16Args*>(args);
  reduce_sum<std::int16_t>(a, bases, 0, 0);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kReduceSumInt16> kReduceSumInt16 =
    Kernel(operators::kReduceSumInt16, run_reduce_sum_int16);

}  // namespace cmsis_nn_delegate::portable
