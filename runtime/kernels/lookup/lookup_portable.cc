#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_lookup(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::LookupArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  // Of 0: an element is the index as it is.
  const auto* table = bases.resolve<const std::int8_t>(a.table) + a.entries / 2;
  auto* output = bases.resolve<std::int8_t>(a.output);  // may be the input

  const auto four = [&](std::int32_t at) {
    const std::int8_t x0 = input[at];
    const std::int8_t x1 = input[at + 1];
    const std::int8_t x2 = input[at + 2];
    const std::int8_t x3 = input[at + 3];
    output[at] = table[x0];
    output[at + 1] = table[x1];
    output[at + 2] = table[x2];
    output[at + 3] = table[x3];
  };
  std::int32_t left = a.count;
  // So many at a time that the loop itself takes little.
#ifndef __OPTIMIZE_SIZE__
  for (; left >= 16; left -= 16) {
    four(0);
    four(4);
    four(8);
    four(12);
    input += 16;
    output += 16;
  }
#endif
  for (; left >= 4; left -= 4) {
    four(0);
    input += 4;
    output += 4;
  }
  for (; left > 0; --left) {
    *output++ = table[*input++];
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kLookup> kLookup =
    Kernel(operators::kLookup, run_lookup).in_place();

}  // namespace cmsis_nn_delegate::portable
