#include <limits>

#include "runtime/kernels/common/interpolate.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_lookup_int16(const void* args, const Bases& bases) {
  using Limits = std::numeric_limits<std::int16_t>;
  const auto& a = *static_cast<const payload::LookupInt16Args*>(args);
  const auto* input = bases.resolve<const std::int16_t>(a.input);
  const auto* table = bases.resolve<const std::int16_t>(a.table);
  auto* output = bases.resolve<std::int16_t>(a.output);  // may be the input
  const std::int32_t shift = interpolation_shift(a.entries);

  // Between two entries there is nothing beyond them: without limits, an element takes a third fewer instructions.
  if (a.activation.min == Limits::min() && a.activation.max == Limits::max()) {
    for (std::int32_t i = 0; i < a.count; ++i) {
      output[i] = static_cast<std::int16_t>(interpolate(table, input[i], shift));
    }
    return Error::Ok;
  }
  for (std::int32_t i = 0; i < a.count; ++i) {
    output[i] = clamp_to<std::int16_t>(interpolate(table, input[i], shift), a.activation);
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kLookupInt16> kLookupInt16 =
    Kernel(operators::kLookupInt16, run_lookup_int16).in_place();

}  // namespace cmsis_nn_delegate::portable
