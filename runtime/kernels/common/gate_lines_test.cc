// The lines are the functions that they stand for, at every argument.
#include "runtime/kernels/common/gate_lines.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "runtime/kernels/common/recurrent.h"

namespace cmsis_nn_delegate::portable {
namespace {

TEST(GateLines, Sigmoid) {
  for (std::int32_t value = INT16_MIN; value <= INT16_MAX; ++value) {
    ASSERT_EQ(sigmoid_by_line(value), sigmoid_16(value)) << value;
  }
}

TEST(GateLines, TanhOfArgumentsAndCells) {
  for (std::int32_t bits = 0; bits <= 15; ++bits) {
    for (std::int32_t value = INT16_MIN; value <= INT16_MAX; ++value) {
      ASSERT_EQ(tanh_by_line(value, bits), tanh_16(value, bits)) << value << " * 2^-" << bits;
    }
  }
}

}  // namespace
}  // namespace cmsis_nn_delegate::portable
