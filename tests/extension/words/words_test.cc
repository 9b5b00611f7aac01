#include "tests/extension/words/words.h"

#include <gtest/gtest.h>

#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/view.h"
#include "tests/extension/words/net.h"
#include "tests/extension/words/net.kernels.h"
#include "tests/extension/words/run_net.h"

namespace cmsis_nn_delegate {
namespace {

using executorch::runtime::Error;

Error open_with(const KernelTable& kernels) {
  return PayloadView::open(net_payload, sizeof(net_payload), kernels).error();
}

TEST(Words, RunsFromThePayloadAndAsCalls) {
  EXPECT_TRUE(words::payload_runs());
  EXPECT_TRUE(words::calls_run());
}

TEST(Words, TheTableOfTheModelHasItsKernel) {
  EXPECT_EQ(net_kernels.find(payload::Opcode::kMaximum), &words::kMaximum);
  EXPECT_EQ(net_kernels.provider->revision_of(3), words::kRevision);
}

TEST(Words, ImagesWithoutTheProviderRefuseThePayload) {
  EXPECT_EQ(open_with(net_kernels), Error::Ok);
  EXPECT_EQ(open_with(kPortableKernels), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(open_with(net_kernels.without(payload::Opcode::kMaximum)),
            Error::DelegateInvalidCompatibility);
}

/// A table of models with and without it accepts the payloads of both.
TEST(Words, JoinsTablesOfOthers) {
  static constexpr KernelTable kOthers = {portable::kProvider, {portable::kSoftmax}};
  constexpr KernelTable kBoth = net_kernels_to_join.joined(kOthers);
  EXPECT_EQ(open_with(kBoth), Error::Ok);
  EXPECT_EQ(kBoth.find(payload::Opcode::kSoftmax), &portable::kSoftmax);
}

}  // namespace
}  // namespace cmsis_nn_delegate
