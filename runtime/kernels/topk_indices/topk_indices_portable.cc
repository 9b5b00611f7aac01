#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/topk.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_topk_indices(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::TopkIndicesArgs*>(args);
  auto* output = bases.resolve<std::uint8_t>(a.output);
  topk<std::int8_t>(a, bases, [output](std::int32_t index, std::int8_t, std::int32_t place) {
    const std::int64_t found = place;
    std::memcpy(output + index * sizeof(found), &found, sizeof(found));  // it may lie anywhere
  });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kTopkIndices> kTopkIndices =
    Kernel(operators::kTopkIndices, run_topk_indices);

}  // namespace cmsis_nn_delegate::portable
