#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/reduce_sum/reduce_sum.h"

namespace cmsis_nn_delegate::portable {

Error run_reduce_sum(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::ReduceSumArgs*>(args);
  reduce_sum<std::int8_t>(a, bases, a.input_offset, a.output_offset);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kReduceSum> kReduceSum =
    Kernel(operators::kReduceSum, run_reduce_sum);

}  // namespace cmsis_nn_delegate::portable
