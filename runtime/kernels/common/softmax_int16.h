// Softmax of int16, with exponentials that are powers of two.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/powers.h"
#include "runtime/kernels/common/softmax_rows.h"

namespace cmsis_nn_delegate::portable::softmax_powers {

/// The exponentials of differences to the maximum of a row, with `kPowerBits` bits after the point.
class Exponentials {
 public:
  template <typename Args>
  explicit Exponentials(const Args& args)
      : multiplier_(static_cast<std::uint32_t>(args.multiplier)),
        half_((std::uint32_t{1} << args.shift) >> 1),
        shift_(static_cast<std::uint32_t>(args.shift)),
        reach_(args.reach) {}

  /// Of an element so much below the maximum. init() has checked that up to `reach` the result has a
  /// shift of less than 32.
  std::uint32_t of(std::int32_t below) const {
    if (below > reach_) {
      return 0;
    }
    const std::uint32_t octaves =
        (static_cast<std::uint32_t>(below) * multiplier_ + half_) >> shift_;
    return power_line(octaves) >> (octaves >> 16);
  }

 private:
  std::uint32_t multiplier_;
  std::uint32_t half_;
  std::uint32_t shift_;
  std::int32_t reach_;
};

/// Computes all rows of `args`. `mask` says which elements of a row count; the others become 0.
template <typename Args, typename Mask = softmax_rows::NoMask>
void compute_rows(const Args& args, const std::int16_t* input, std::int16_t* output,
                  Mask mask = Mask()) {
  constexpr std::int32_t kRest = kPowerBits - 15;  // of exponentials that the division drops
  const Exponentials exponentials(args);
  for (std::int32_t row = 0; row < args.rows; ++row) {
    std::int32_t max = INT16_MIN;
    for (std::int32_t i = 0; i < args.row_size; ++i) {
      max = input[i] > max && mask.counts(i) ? input[i] : max;
    }

    std::uint64_t sum = 0;
    for (std::int32_t i = 0; i < args.row_size; ++i) {
      const std::uint32_t power = mask.counts(i) ? exponentials.of(max - input[i]) : 0;
      sum += power;
      // Of the maximum 32768, which wraps.
      output[i] = static_cast<std::int16_t>((power + (1u << (kRest - 1))) >> kRest);
    }

    // (1 + x) * 2^octave; of a row that is hidden, 1.
    sum = sum < (1u << kPowerBits) ? 1u << kPowerBits : sum;
    const std::int32_t bits = 63 - __builtin_clzll(sum);
    const auto leading =
        static_cast<std::uint32_t>(bits <= 31 ? sum << (31 - bits) : sum >> (bits - 31));
    const auto x = static_cast<std::int32_t>(leading & INT32_MAX);
    const auto inverse = static_cast<std::uint32_t>(
        (softmax_rows::one_over_one_plus_x(x) + (std::int64_t{1} << 14)) >> 15);
    const std::int32_t places = 16 + bits - kPowerBits;  // at most 31, as rows have 65535 elements
    const std::uint32_t half = std::uint32_t{1} << (places - 1);
    for (std::int32_t i = 0; i < args.row_size; ++i) {
      // At most 2^31, and half of that.
      const std::uint32_t value =
          (static_cast<std::uint16_t>(output[i]) * inverse + half) >> places;
      output[i] = static_cast<std::int16_t>(value > INT16_MAX ? INT16_MAX : value);
    }
    input += args.row_size;
    output += args.row_size;
    mask.next_row();
  }
}

}  // namespace cmsis_nn_delegate::portable::softmax_powers
