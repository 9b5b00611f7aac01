#include "runtime/kernels/leaky_sum/leaky_sum.h"

namespace cmsis_nn_delegate::portable {

Error run_leaky_sum_lookup(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::LeakySumLookupArgs*>(args);
  const auto* by = bases.resolve<const std::int8_t>(a.decay);
  // Of 0: an element is the index as it is.
  const auto* table = bases.resolve<const std::int16_t>(a.table) + a.table_entries / 2;
  return compute_leaky_sum(a, bases, [&](std::int32_t /*entry*/, std::int32_t index) {
    return std::int32_t{table[by[index]]};
  });
}

constexpr KernelOf<payload::Opcode::kLeakySumLookup> kLeakySumLookup =
    Kernel(operators::kLeakySumLookup, run_leaky_sum_lookup);

}  // namespace cmsis_nn_delegate::portable
