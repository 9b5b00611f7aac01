#include <cstddef>
#include <cstdint>

#include "runtime/kernels/common/logarithm.h"
#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

constexpr int kExpBits = 30;  // of the exponentials after the point

#if CMSIS_NN_DELEGATE_VECTORS
/// The largest element of a row.
std::int8_t largest(const std::int8_t* input, std::int32_t count) {
  std::int8_t max = -128;
  for (std::int32_t i = 0; i < count; i += 16) {
    const mve_pred16_t lanes = vctp8q(static_cast<std::uint32_t>(count - i));
    max = vmaxvq_p_s8(max, vldrbq_z_s8(input + i, lanes), lanes);
  }
  return max;
}

/// The sum of the exponentials of a row, whose largest element is `max`.
std::uint64_t exponential_sum(const std::int8_t* input, std::int32_t count, std::int32_t max,
                              const std::int32_t* exponentials) {
  const auto* table = reinterpret_cast<const std::uint32_t*>(exponentials);
  const int32x4_t most = vdupq_n_s32(max);
  std::uint64_t sum = 0;
  for (std::int32_t i = 0; i < count; i += 4) {
    const mve_pred16_t lanes = first_of_four(count - i);
    const int32x4_t below = vsubq_s32(most, load_four(input + i, lanes));
    const uint32x4_t places = vreinterpretq_u32_s32(below);
    sum = vaddlvaq_u32(sum, vldrwq_gather_shifted_offset_z_u32(table, places, lanes));
  }
  return sum;
}

/// Computes a row as the loops of run_log_softmax() do.
void log_softmax_row(const payload::LogSoftmaxArgs& a, const std::int32_t* exponentials,
                     const std::int8_t* input, std::int8_t* output) {
  const std::int32_t max = largest(input, a.row_size);
  const std::uint64_t sum = exponential_sum(input, a.row_size, max, exponentials);
  const std::int64_t log_sum = static_cast<std::int64_t>(log2_of(sum | 1, kExpBits)) * a.log2_step;
  // The bits below kLogBits of the sum of logarithms make no difference: the others have none there. The rest is shifted
  // so that the upper 32 bits of 64 are the result.
  constexpr int kLeft = 32 - kLogBits;
  constexpr std::int64_t kHalf = std::int64_t{1} << (2 * kLogBits - 1);
  const std::int64_t offset = ((log_sum + kHalf) >> kLogBits) * (std::int64_t{1} << kLeft);
  const int32x4_t high = vdupq_n_s32(static_cast<std::int32_t>(offset >> 32));
  const uint32x4_t low = vdupq_n_u32(static_cast<std::uint32_t>(offset));
  const int32x4_t steps = vdupq_n_s32(a.step);
  const int32x4_t most = vdupq_n_s32(max);
  const int32x4_t start = vdupq_n_s32(a.output_offset);
  constexpr payload::Activation kLimits = {-128, 127};
  for_fours(a.row_size, [&](std::int32_t i, auto... lanes) {
    const int32x4_t distance = vsubq_s32(most, load_four(input + i, lanes...));
    const int32x4_t below = upper_of_sum(vshlq_n_s32(distance, kLeft), steps, high, low);
    store_four(output + i, clamp_four(vsubq_s32(start, below), kLimits), lanes...);
  });
}
#endif

}  // namespace

Error run_log_softmax(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::LogSoftmaxArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* exponentials = bases.resolve<const std::int32_t>(a.exponentials);
  auto* output = bases.resolve<std::int8_t>(a.output);

  for (std::int32_t row = 0; row < a.rows; ++row) {
#if CMSIS_NN_DELEGATE_VECTORS
    log_softmax_row(a, exponentials, input, output);
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
