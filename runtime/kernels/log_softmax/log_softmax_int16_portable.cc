#include <cstdint>

#include "runtime/kernels/common/logarithm.h"
#include "runtime/kernels/common/softmax_int16.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_log_softmax_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::LogSoftmaxInt16Args*>(args);
  const auto* input = bases.resolve<const std::int16_t>(a.input);
  auto* output = bases.resolve<std::int16_t>(a.output);
  const softmax_powers::Exponentials exponentials(a);
  constexpr std::int64_t kHalf = std::int64_t{1} << (kLogBits - 1);

  for (std::int32_t row = 0; row < a.rows; ++row) {
    std::int32_t max = input[0];
    for (std::int32_t i = 1; i < a.row_size; ++i) {
      max = input[i] > max ? input[i] : max;
    }
    std::uint64_t sum = 0;  // at least 1, of the maximum
    for (std::int32_t i = 0; i < a.row_size; ++i) {
      sum += exponentials.of(max - input[i]);
    }
    const std::int64_t logarithm =
        (static_cast<std::int64_t>(log2_of(sum, kPowerBits)) * a.log2_step + kHalf) >> kLogBits;
    for (std::int32_t i = 0; i < a.row_size; ++i) {
      const std::int64_t below = static_cast<std::int64_t>(max - input[i]) * a.step + logarithm;
      const std::int64_t value = -((below + kHalf) >> kLogBits);
      output[i] = static_cast<std::int16_t>(value < INT16_MIN ? INT16_MIN : value);
    }
    input += a.row_size;
    output += a.row_size;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kLogSoftmaxInt16> kLogSoftmaxInt16 =
    Kernel(operators::kLogSoftmaxInt16, run_log_softmax_int16);

}  // namespace cmsis_nn_delegate::portable
