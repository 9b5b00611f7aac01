#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_lookup(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::LookupArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  // Of 0: an element is the index as it is.
  const auto* table = bases.resolve<const std::int8_t>(a.table) + a.entries / 2;
  auto* output = bases.resolve<std::int8_t>(a.output);  // may be the input

  for (std::int32_t i = 0; i < a.count; ++i) {
    output[i] = table[input[i]];
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kLookup> kLookup =
    Kernel(operators::kLookup, run_lookup).in_place();

}  // namespace cmsis_nn_delegate::portable
