// sigmoid and tanh of gates as lines: start + argument * step, without a branch for the sign of the argument or for its
// size. The results are those of sigmoid_16() and tanh_16() in recurrent.h, for every argument.
//
// Between two entries of the sigmoid's table, both functions are linear in their argument, also below zero. Twice what
// tanh looks up is 6 * argument, so that both have one table. It takes 3 KB of flash, and saves six instructions a result.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/sigmoid_table.h"

namespace cmsis_nn_delegate {

/// The lines for arguments from -131072 to 131071, 512 each. Line number 256 begins at 0.
struct GateLines {
  static constexpr std::int32_t kCount = 512;
  static constexpr std::int32_t kBits = 9;
  static constexpr std::int32_t kZero = 256;
  // Added to all lines: half of a step of the sigmoid's results, and sigmoid(0).
  static constexpr std::int32_t kSigmoid = (1 << 24) + (1 << 9);
  // What is too much for tanh: the same, but half of a step of its results, which have half of the size.
  static constexpr std::int32_t kTanh = kSigmoid - (1 << 8);

  constexpr GateLines() {
    for (std::int32_t line = 0; line < kCount; ++line) {
      const bool negative = line < kZero;
      const std::int32_t i = negative ? kZero - 1 - line : line - kZero;
      const std::int32_t low = kSigmoidTable[i];
      const std::int32_t step = i < kZero - 1 ? kSigmoidTable[i + 1] - low : 0;
      const std::int32_t start = (low - 32768 - i * step) * (1 << kBits);
      // Below zero, results are those of the positive argument, negative and rounded the other way.
      starts[line] = (negative ? -start - 1 : start) + kSigmoid;
      steps[line] = static_cast<std::uint16_t>(step);
    }
  }

  /// `argument` is within the lines.
  constexpr std::int32_t at(std::int32_t argument) const {
    const std::int32_t line = kZero + (argument >> kBits);
    return starts[line] + argument * steps[line];
  }

  std::int32_t starts[kCount] = {};
  std::uint16_t steps[kCount] = {};
};

inline constexpr GateLines kGateLines;

namespace portable {

/// sigmoid_16().
inline std::int32_t sigmoid_by_line(std::int32_t value) { return kGateLines.at(3 * value) >> 10; }

/// tanh_16() of a `value` with `bits` bits after the point, in [0, 15].
inline std::int32_t tanh_by_line(std::int32_t value, std::int32_t bits = 12) {
  constexpr std::int32_t kMost = GateLines::kCount / 2 << GateLines::kBits;
  const std::int32_t scaled =
      bits > 12 ? (3 * value + (1 << (bits - 13))) >> (bits - 12) : value * (3 << (12 - bits));
  const std::int32_t argument = 2 * scaled;
  const std::int32_t limited = argument < -kMost   ? -kMost
                               : argument >= kMost ? kMost - 1
                                                   : argument;
  return (kGateLines.at(limited) - GateLines::kTanh) >> 9;
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
