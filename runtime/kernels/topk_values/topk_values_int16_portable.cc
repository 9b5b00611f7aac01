#include <cstdint>

#include "runtime/kernels/common/topk.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_topk_values_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::TopkValuesInt16Args*>(args);
  auto* output = bases.resolve<std::int16_t>(a.output);
  topk<std::int16_t>(a, bases, [output](std::int32_t index, std::int16_t number, std::int32_t) {
    output[index] = number;
  });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kTopkValuesInt16> kTopkValuesInt16 =
    Kernel(operators::kTopkValuesInt16, run_topk_values_int16);

}  // namespace cmsis_nn_delegate::portable
