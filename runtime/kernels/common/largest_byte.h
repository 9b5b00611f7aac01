// The largest one of bytes that lie together, several at a time on cores with DSP or MVE, for kernels of any provider.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"

namespace cmsis_nn_delegate::portable {

#if CMSIS_NN_DELEGATE_WORDS
/// The largest one of `count` >= 1 bytes.
inline std::int8_t largest_byte(const std::int8_t* input, std::int32_t count) {
  std::int8_t max = *input;
  if (count >= 4) {
    std::uint32_t best = load_word(input + count - 4);
    for (const std::int8_t* const end = input + (count & ~3); input != end; input += 4) {
      best = larger_bytes(load_word(input), best);
    }
    best = larger_bytes(best >> 16, best);
    return static_cast<std::int8_t>(larger_bytes(best >> 8, best));
  }
  for (std::int32_t i = 1; i < count; ++i) {
    max = input[i] > max ? input[i] : max;
  }
  return max;
}
#elif CMSIS_NN_DELEGATE_VECTORS
/// The largest one of `count` >= 1 bytes.
inline std::int8_t largest_byte(const std::int8_t* input, std::int32_t count) {
  std::int8_t max = *input;
  for (; count >= 16; count -= 16, input += 16) {
    max = vmaxvq_s8(max, vldrbq_s8(input));
  }
  if (count > 0) {
    const mve_pred16_t lanes = vctp8q(static_cast<std::uint32_t>(count));
    max = vmaxvq_p_s8(max, vldrbq_z_s8(input, lanes), lanes);
  }
  return max;
}
#else
/// The largest one of `count` >= 1 bytes.
inline std::int8_t largest_byte(const std::int8_t* input, std::int32_t count) {
  std::int8_t max = *input;
  for (std::int32_t i = 1; i < count; ++i) {
    max = input[i] > max ? input[i] : max;
  }
  return max;
}
#endif

}  // namespace cmsis_nn_delegate::portable
