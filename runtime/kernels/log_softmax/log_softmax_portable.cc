#include <cstddef>
#include <cstdint>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

constexpr int kExpBits = 30;  // of the exponentials after the point
constexpr int kLogBits = 20;  // of binary logarithms, and of numbers in steps of the output

/// The binary logarithm of a number in Q30, 1 or more, with `kLogBits` bits after the point: each
/// squaring of the mantissa gives one bit.
std::int32_t log2_of(std::uint64_t number) {
  const int bits = 64 - __builtin_clzll(number);
  auto mantissa =
      static_cast<std::uint32_t>(bits <= 32 ? number << (32 - bits) : number >> (bits - 32));
  std::int32_t result = bits - 1 - kExpBits;
  for (int i = 0; i < kLogBits; ++i) {
    const std::uint64_t square = (static_cast<std::uint64_t>(mantissa) * mantissa) >> 31;
    const auto carry = static_cast<std::int32_t>(square >> 32);
    mantissa = static_cast<std::uint32_t>(square >> carry);
    result = result * 2 + carry;
  }
  return result;
}

}  // namespace

Error run_log_softmax(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::LogSoftmaxArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* exponentials = bases.resolve<const std::int32_t>(a.exponentials);
  auto* output = bases.resolve<std::int8_t>(a.output);

  for (std::int32_t row = 0; row < a.rows; ++row) {
    std::int32_t max = input[0];
    for (std::int32_t i = 1; i < a.row_size; ++i) {
      max = input[i] > max ? input[i] : max;
    }
    std::uint64_t sum = 0;
    for (std::int32_t i = 0; i < a.row_size; ++i) {
      sum += static_cast<std::uint32_t>(exponentials[max - input[i]]);
    }
    // Or 1, because a damaged table may contain zeros only.
    const std::int64_t log_sum = static_cast<std::int64_t>(log2_of(sum | 1)) * a.log2_step;
    for (std::int32_t i = 0; i < a.row_size; ++i) {
      const std::int64_t distance = static_cast<std::int64_t>(max - input[i]) * a.step;
      const std::int64_t below = (distance << kLogBits) + log_sum;
      constexpr std::int64_t kHalf = std::int64_t{1} << (2 * kLogBits - 1);
      const std::int64_t value = a.output_offset - ((below + kHalf) >> (2 * kLogBits));
      output[i] = static_cast<std::int8_t>(value > 127 ? 127 : (value < -128 ? -128 : value));
    }
    input += a.row_size;
    output += a.row_size;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kLogSoftmax> kLogSoftmax =
    Kernel(operators::kLogSoftmax, run_log_softmax);

}  // namespace cmsis_nn_delegate::portable
