#include "runtime/kernels/leaky_sum/leaky_sum.h"

namespace cmsis_nn_delegate::portable {

Error run_leaky_sum(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::LeakySumArgs*>(args);
  const auto* decays = bases.resolve<const std::int16_t>(a.decays);
  return compute_leaky_sum(a, bases, [&](std::int32_t entry, std::int32_t /*index*/) {
    return std::int32_t{decays[entry]};
  });
}

constexpr KernelOf<payload::Opcode::kLeakySum> kLeakySum =
    Kernel(operators::kLeakySum, run_leaky_sum);

}  // namespace cmsis_nn_delegate::portable
