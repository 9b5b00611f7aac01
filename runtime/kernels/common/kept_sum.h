// What kernels have in common that keep a sum in 16 bits, of which a part decays. The formulas are those of
// docs/reference/recurrent_layers.md.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/recurrent.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate::portable {

/// It copies what it needs of the arguments, which writes of bytes might change for all that the compiler knows.
class KeptSum {
 public:
  template <typename Args>
  KeptSum(const Args& args, const Bases& bases)
      : multiplier_(args.output_multiplier),
        shift_(args.output_shift),
        offset_(args.output_offset),
        initial_(bases.resolve<const std::int16_t>(args.initial_state)),
        last_(bases.resolve<std::int16_t>(args.last_state)),
        output_(bases.resolve<std::int8_t>(args.output)) {}

  /// Computes the next element, in memory order: `decay` is in [-32768, 32768] * 2^-15, and `added` in 2^-15 of a step
  /// of the state, at most 2^46 of these.
  void put(std::int32_t decay, std::int64_t added) {
    // Where the state changes its sign, twice its range is added to it, and an input may have far larger steps.
    const std::int64_t exact = std::int64_t{decay * *initial_++ + (1 << 14)} + added;
    const std::int32_t next = saturate_16(static_cast<std::int32_t>(exact >> 15));
    *last_++ = static_cast<std::int16_t>(next);
    const std::int32_t seen = wrapping_add(requantize(next, multiplier_, shift_), offset_);
    *output_++ = static_cast<std::int8_t>(seen < -128 ? -128 : seen > 127 ? 127 : seen);
  }

 private:
  const std::int32_t multiplier_;
  const std::int32_t shift_;
  const std::int32_t offset_;
  const std::int16_t* initial_;
  std::int16_t* last_;
  std::int8_t* output_;
};

}  // namespace cmsis_nn_delegate::portable
