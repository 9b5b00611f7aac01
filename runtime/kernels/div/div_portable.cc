#include "runtime/kernels/common/broadcast.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::DivArgs;

// Steps of a quotient by zero: more than any output has.
constexpr std::int32_t kEndless = 1 << 20;

/// a / b * multiplier * 2^(shift - 31), rounded once, halves away from zero. `a` and `b` are in
/// [-256, 256] and `shift` is in [-9, 17].
std::int32_t quotient(std::int32_t a, std::int32_t b, std::int32_t multiplier, std::int32_t shift) {
  if (b == 0) {
    return a == 0 ? 0 : a < 0 ? -kEndless : kEndless;
  }
  // At most 2^39 * 2^17, which is 2^25 of the least divisor.
  const std::uint64_t dividend =
      (static_cast<std::uint64_t>(a < 0 ? -a : a) * static_cast<std::uint32_t>(multiplier))
      << (shift > 0 ? shift : 0);
  const std::uint64_t divisor = static_cast<std::uint64_t>(b < 0 ? -b : b)
                                << (shift < 0 ? 31 - shift : 31);
  const auto rounded = static_cast<std::int32_t>((dividend + divisor / 2) / divisor);
  return (a < 0) != (b < 0) ? -rounded : rounded;
}

Error div_row(const void* args, const std::int8_t* input1, const std::int8_t* input2,
              std::int8_t* output, std::int32_t count) {
  const auto& a = *static_cast<const Args*>(args);
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t steps = quotient(input1[i] + a.input1_offset, input2[i] + a.input2_offset,
                                        a.output_multiplier, a.output_shift);
    output[i] = clamp(wrapping_add(steps, a.output_offset), a.activation);
  }
  return Error::Ok;
}

}  // namespace

Error run_div(const void* args, const Bases& bases) {
  return for_each_row(*static_cast<const Args*>(args), bases, div_row);
}

constexpr KernelOf<payload::Opcode::kDiv> kDiv = Kernel(operators::kDiv, run_div).in_place();

}  // namespace cmsis_nn_delegate::portable
