// The largest one of bytes that lie together, several at a time on cores with DSP or MVE, for kernels of any provider.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"

namespace cmsis_nn_delegate::portable {

/// The largest one of `count` >= 1 bytes.
inline std::int8_t largest_byte(const std::int8_t* input, std::int32_t count) {
#if CMSIS_NN_DELEGATE_WORDS
  if (count >= 4) {
    std::uint32_t best = load_word(input + count - 4);
    for (const std::int8_t* const end = input + (count & ~3); input != end; input += 4) {
      best = larger_bytes(load_word(input), best);
    }
    best = larger_bytes(best >> 16, best);
    return static_cast<std::int8_t>(larger_bytes(best >> 8, best));
  }
#endif
  std::int8_t max = *input;
#if CMSIS_NN_DELEGATE_VECTORS
  for (; count >= 16; count -= 16, input += 16) {
    max = vmaxvq_s8(max, vldrbq_s8(input));
  }
  if (count > 0) {
    const mve_pred16_t lanes = vctp8q(static_cast<std::uint32_t>(count));
    max = vmaxvq_p_s8(max, vldrbq_z_s8(input, lanes), lanes);
  }
#else
  for (std::int32_t i = 1; i < count; ++i) {
    max = input[i] > max ? input[i] : max;
  }
#endif
  return max;
}

#if CMSIS_NN_DELEGATE_WORDS
/// How far four bytes are below `most`, which has the largest one four times.
class FourBelow {
 public:
  FourBelow(std::uint32_t most, const std::int8_t* input)
      : below_(__usub8(most, load_word(input))) {}

  /// Returns `table[i]` for the byte kByte.
  template <int kByte, typename Number>
  Number in(const Number* table) const {
    return table[below_ >> (8 * kByte) & 0xFF];
  }

 private:
  std::uint32_t below_;
};
#endif

}  // namespace cmsis_nn_delegate::portable
