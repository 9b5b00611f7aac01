#include "runtime/kernels/common/interpolate.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/softmax_tables.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

constexpr payload::ActivationInt16 kInt16 = {INT16_MIN, INT16_MAX};
constexpr std::int32_t kShift = 7;  // of both tables

}  // namespace

Error run_softmax_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::SoftmaxInt16Args*>(args);
  const auto* input = bases.resolve<const std::int16_t>(a.input);
  auto* output = bases.resolve<std::int16_t>(a.output);

  for (std::int32_t row = 0; row < a.rows; ++row) {
    std::int32_t max = input[0];
    for (std::int32_t i = 1; i < a.row_size; ++i) {
      max = input[i] > max ? input[i] : max;
    }

    // At least the exponential of the maximum, 32767, and at most 65535 times as much.
    std::int32_t sum = 0;
    for (std::int32_t i = 0; i < a.row_size; ++i) {
      const std::int32_t scaled = requantize(input[i] - max, a.multiplier, a.shift);
      const auto number = clamp_to<std::int16_t>(wrapping_add(scaled, INT16_MAX), kInt16);
      output[i] = static_cast<std::int16_t>(interpolate(kSoftmaxExponentials, number, kShift));
      sum += output[i];
    }

    // From 2^16 to 2^17: 1 + x, of which x, from 0 to 1, has the numbers of a table.
    const std::int32_t headroom = __builtin_clz(static_cast<std::uint32_t>(sum));
    const std::uint32_t normalized =
        ((static_cast<std::uint32_t>(sum) << (headroom - 1)) + (1u << 13)) >> 14;
    const auto number =
        clamp_to<std::int16_t>(static_cast<std::int32_t>(normalized) - (3 << 15), kInt16);
    const std::int32_t inverse = interpolate(kSoftmaxReciprocals, number, kShift);
    const std::int32_t places = 31 - headroom;
    const std::int32_t half = std::int32_t{1} << (places - 1);
    for (std::int32_t i = 0; i < a.row_size; ++i) {
      // Below 2^31, as no exponential and no inverse is negative.
      const auto product = static_cast<std::uint32_t>(output[i] * inverse + half);
      output[i] =
          static_cast<std::int16_t>(product >> places > INT16_MAX ? INT16_MAX : product >> places);
    }
    input += a.row_size;
    output += a.row_size;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kSoftmaxInt16> kSoftmaxInt16 =
    Kernel(operators::kSoftmaxInt16, run_softmax_int16);

}  // namespace cmsis_nn_delegate::portable
