// Joins tables of kernels in a constant expression with the sanitizers of the host's compiler: a comparison of addresses
// is none for GCC with them.
#include <cstddef>

#include <gtest/gtest.h>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace {

TEST(JoinedTables, InAConstantExpressionWithSanitizers) {
  constexpr KernelTable kOne = {portable::kProvider, {portable::kConv2d, portable::kSoftmax}};
  constexpr KernelTable kOther = {portable::kProvider, {portable::kSoftmax, portable::kAdd}};
  constexpr KernelTable kBoth = kOne.joined(kOther);
  for (std::size_t opcode = 0; opcode < payload::kOpcodeCount; ++opcode) {
    const Kernel* const first = kOne.find(opcode);
    EXPECT_EQ(kBoth.find(opcode), first != nullptr ? first : kOther.find(opcode));
  }
}

}  // namespace
}  // namespace cmsis_nn_delegate
