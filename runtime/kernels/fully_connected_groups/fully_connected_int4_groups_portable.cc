#include <cstddef>
#include <cstdint>

#include "runtime/kernels/common/nibbles.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

/// The products of `count` weights, from weight `first` of `packed` on, with `input`. A step has a byte of weights: in
/// groups of even size no weight is alone.
std::int32_t group_sum(const std::int8_t* packed, std::uint32_t first, const std::int8_t* input,
                       std::int32_t count) {
  std::uint32_t sum = 0;
  const std::int8_t* next = packed + first / 2;
  if (first % 2 != 0 && count > 0) {
    sum = static_cast<std::uint32_t>((*next++ >> 4) * *input++);
    --count;
  }
  for (; count >= 2; count -= 2) {
    const std::int8_t both = *next++;
    sum += static_cast<std::uint32_t>(nibble(&both, 0) * input[0] + (both >> 4) * input[1]);
    input += 2;
  }
  if (count > 0) {
    sum += static_cast<std::uint32_t>(nibble(next, 0) * *input);
  }
  return static_cast<std::int32_t>(sum);
}

/// The sum over groups of factor * (weights . input), narrowed by `a.narrowing` bits with rounding. The sum of a group wraps
/// at 32 bits, and what is left of the total at 32, too.
std::int32_t grouped_sum(const payload::FullyConnectedInt4GroupsArgs& a, const std::int8_t* weights,
                         std::uint32_t first, const std::int16_t* factors,
                         const std::int8_t* input) {
  std::uint64_t total = (std::uint64_t{1} << a.narrowing) >> 1;
  for (std::int32_t g = 0; g < a.groups; ++g) {
    const std::int32_t sum = group_sum(weights, first, input, a.group);
    total += static_cast<std::uint64_t>(std::int64_t{factors[g]} * sum);
    first += static_cast<std::uint32_t>(a.group);
    input += a.group;
  }
  return static_cast<std::int32_t>(
      static_cast<std::uint32_t>(static_cast<std::int64_t>(total) >> a.narrowing));
}

}  // namespace

Error run_fully_connected_int4_groups(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedInt4GroupsArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* weights = bases.resolve<const std::int8_t>(a.filter);
  const auto* all_factors = bases.resolve<const std::int16_t>(a.factors);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  const auto* multiplier = bases.resolve<const std::int32_t>(a.multiplier);
  const auto* shift = bases.resolve<const std::int32_t>(a.shift);
  auto* output = bases.resolve<std::int8_t>(a.output);
  const std::int32_t row_size = a.groups * a.group;
  for (std::int32_t n = 0; n < a.batch; ++n) {
    std::uint32_t first = 0;  // weight of the row
    const std::int16_t* factors = all_factors;
    for (std::int32_t channel = 0; channel < a.outputs; ++channel) {
      const std::int32_t sum = grouped_sum(a, weights, first, factors, input);
      first += static_cast<std::uint32_t>(row_size);
      factors += a.groups;
      const std::int32_t value =
          requantize(wrapping_add(sum, bias[channel]), multiplier[channel], shift[channel]);
      *output++ = clamp(wrapping_add(value, a.output_offset), a.activation);
    }
    input += row_size;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4Groups> kFullyConnectedInt4Groups =
    Kernel(operators::kFullyConnectedInt4Groups, run_fully_connected_int4_groups);

}  // namespace cmsis_nn_delegate::portable
