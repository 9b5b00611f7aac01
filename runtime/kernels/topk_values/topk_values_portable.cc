#include <cstdint>

#include "runtime/kernels/common/topk.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_topk_values(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::TopkValuesArgs*>(args);
  auto* output = bases.resolve<std::int8_t>(a.output);
  topk<std::int8_t>(a, bases, [output](std::int32_t index, std::int8_t number, std::int32_t) {
    output[index] = number;
  });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kTopkValues> kTopkValues =
    Kernel(operators::kTopkValues, run_topk_values);

}  // namespace cmsis_nn_delegate::portable
