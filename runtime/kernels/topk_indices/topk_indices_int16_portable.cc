#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/topk.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_topk_indices_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::TopkIndicesInt16Args*>(args);
  auto* output = bases.resolve<std::uint8_t>(a.output);
  topk<std::int16_t>(a, bases, [output](std::int32_t index, std::int16_t, std::int32_t place) {
    const std::int64_t found = place;
    std::memcpy(output + index * sizeof(found), &found, sizeof(found));  // it may lie anywhere
  });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kTopkIndicesInt16> kTopkIndicesInt16 =
    Kernel(operators::kTopkIndicesInt16, run_topk_indices_int16);

}  // namespace cmsis_nn_delegate::portable
