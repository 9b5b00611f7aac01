#include "runtime/kernels/common/kept_sum.h"
#include "runtime/kernels/common/powers.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::SelectiveStateArgs;

/// 2^(-x / 2^16) in [0, 32768] * 2^-15.
std::int32_t negative_power(std::uint32_t x) {
  const std::uint32_t shift = (x >> 16 < 17 ? x >> 16 : 17) + 10;
  return static_cast<std::int32_t>((power_line(x) + (std::uint32_t{1} << (shift - 1))) >> shift);
}

}  // namespace

Error run_selective_state(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  const auto* by = bases.resolve<const std::int8_t>(a.step);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* written = bases.resolve<const std::int8_t>(a.written);
  // Of 0: an element is the index as it is.
  const auto* steps = bases.resolve<const std::int16_t>(a.steps) + a.table_entries / 2;
  const auto* rates = bases.resolve<const std::int16_t>(a.rates);
  const std::int32_t columns = a.columns;
  const std::int32_t written_offset = a.written_offset;
  const std::int32_t argument_shift = a.argument_shift;
  const std::int32_t multiplier = a.added_multiplier;
  const std::int32_t shift = a.added_shift;
  KeptSum sum(a, bases);
  // A greater product would not fit 32 bits once it is shifted to the left.
  const std::int32_t most = INT32_MAX >> (shift > 0 ? shift : 0);
  for (std::int32_t batch = 0; batch < a.batch; ++batch) {
    const std::int16_t* rate = rates;
    for (std::int32_t row = 0; row < a.rows; ++row) {
      const std::int32_t step = steps[*by++];
      const std::int32_t weighted = step * (*input++ + a.input_offset);
      for (std::int32_t column = 0; column < columns; ++column) {
        const std::int32_t decay =
            negative_power(static_cast<std::uint32_t>(half_up(step * *rate++, argument_shift)));
        std::int32_t added = weighted * (written[column] + written_offset);
        added = added > most ? most : added < -most ? -most : added;
        sum.put(decay, requantize(added, multiplier, shift));
      }
    }
    written += columns;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kSelectiveState> kSelectiveState =
    Kernel(operators::kSelectiveState, run_selective_state);

}  // namespace cmsis_nn_delegate::portable
