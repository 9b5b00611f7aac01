#include <cstdint>

#include "runtime/kernels/common/logarithm.h"
#include "runtime/kernels/log_softmax/log_softmax_rows.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_log_softmax(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::LogSoftmaxArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* exponentials = bases.resolve<const std::int32_t>(a.exponentials);
  auto* output = bases.resolve<std::int8_t>(a.output);

#if CMSIS_NN_DELEGATE_VECTORS || CMSIS_NN_DELEGATE_WORDS
  const LogSoftmaxRows rows(a, exponentials);
#endif
  for (std::int32_t row = 0; row < a.rows; ++row) {
#if CMSIS_NN_DELEGATE_VECTORS || CMSIS_NN_DELEGATE_WORDS
    rows.compute(input, a.row_size, output);
#else
    std::int32_t max = input[0];
    for (std::int32_t i = 1; i < a.row_size; ++i) {
      max = input[i] > max ? input[i] : max;
    }
    std::uint64_t sum = 0;
    for (std::int32_t i = 0; i < a.row_size; ++i) {
      sum += static_cast<std::uint32_t>(exponentials[max - input[i]]);
    }
    // Or 1, because a damaged table may contain zeros only.
    const std::int64_t log_sum =
        static_cast<std::int64_t>(log2_of(sum | 1, kExpBits)) * a.log2_step;
    for (std::int32_t i = 0; i < a.row_size; ++i) {
      const std::int64_t distance = static_cast<std::int64_t>(max - input[i]) * a.step;
      const std::int64_t below = (distance << kLogBits) + log_sum;
      constexpr std::int64_t kHalf = std::int64_t{1} << (2 * kLogBits - 1);
      const std::int64_t value = a.output_offset - ((below + kHalf) >> (2 * kLogBits));
      output[i] = static_cast<std::int8_t>(value > 127 ? 127 : (value < -128 ? -128 : value));
    }
#endif
    input += a.row_size;
    output += a.row_size;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kLogSoftmax> kLogSoftmax =
    Kernel(operators::kLogSoftmax, run_log_softmax);

}  // namespace cmsis_nn_delegate::portable
