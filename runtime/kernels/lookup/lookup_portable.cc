#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_lookup(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::LookupArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  // Of 0: an element is the index as it is.
  const auto* table = bases.resolve<const std::int8_t>(a.table) + a.entries / 2;
  auto* output = bases.resolve<std::int8_t>(a.output);  // may be the input

  constexpr std::int32_t kAtATime = 4;  // so that the loop itself takes little
  std::int32_t left = a.count;
  for (; left >= kAtATime; left -= kAtATime) {
    const std::int8_t x0 = input[0];
    const std::int8_t x1 = input[1];
    const std::int8_t x2 = input[2];
    const std::int8_t x3 = input[3];
    output[0] = table[x0];
    output[1] = table[x1];
    output[2] = table[x2];
    output[3] = table[x3];
    input += kAtATime;
    output += kAtATime;
  }
  for (; left > 0; --left) {
    *output++ = table[*input++];
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kLookup> kLookup =
    Kernel(operators::kLookup, run_lookup).in_place();

}  // namespace cmsis_nn_delegate::portable
