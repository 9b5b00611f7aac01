#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/view.h"
#include "runtime/standalone/model.h"
#include "tests/extension/data.h"
#include "tests/extension/running_peak.h"
#include "tests/extension/running_peak_args.h"
#include "tests/payloads/payload_builder.h"

namespace cmsis_nn_delegate {
namespace {

using executorch::runtime::Error;
using payload::RunningPeakArgs;
using testing::AlignedBytes;
using testing::make_ref;

constexpr KernelTable kKernels = {portable::kProvider, {extension::kRunningPeak}};
constexpr unsigned kOutputCount = 3;
// Inputs and outputs have the numbers 0 to 3.
constexpr unsigned kBaseState = payload::kBaseIo + 1 + kOutputCount;

class ExtensionTest : public ::testing::Test {
 protected:
  ExtensionTest() : payload_(sizeof(kDspPayload)), state_(payload::kStateOffset + 64) {
    std::memcpy(payload_.data(), kDspPayload, sizeof(kDspPayload));
    std::memset(state_.data(), 0xA5, state_.size());
  }

  Error load(StandaloneModelBase& model) {
    return model.load(backend_, payload_.data(), payload_.size(), arena_.data(), arena_.size(),
                      state_.data(), state_.size());
  }

  /// Returns the outputs of all executions, one after the other.
  std::vector<std::uint8_t> run(StandaloneModelBase& model) {
    std::vector<std::uint8_t> results;
    for (unsigned execution = 0; execution < kExecutions; ++execution) {
      std::uint8_t outputs[kOutputCount][kCount] = {};
      EXPECT_EQ(model.set_data(0, const_cast<unsigned char*>(kInputs + execution * kCount)),
                Error::Ok);
      for (unsigned i = 0; i < kOutputCount; ++i) {
        EXPECT_EQ(model.set_data(1 + i, outputs[i]), Error::Ok);
      }
      EXPECT_EQ(model.run(), Error::Ok);
      for (const auto& output : outputs) {
        results.insert(results.end(), output, output + kCount);
      }
    }
    return results;
  }

  Error open() { return PayloadView::open(payload_.data(), payload_.size(), kKernels).error(); }

  Error open_with(void (*change)(RunningPeakArgs&)) {
    auto& call = payload_.at<payload::CallHeader>(payload_.header().calls_offset);
    auto& args = *reinterpret_cast<RunningPeakArgs*>(&call + 1);
    const RunningPeakArgs original = args;
    change(args);
    const Error error = open();
    args = original;
    return error;
  }

  AlignedBytes payload_;
  AlignedBytes arena_{256};
  AlignedBytes state_;
  const CmsisNnBackend backend_{kKernels};
  const std::vector<std::uint8_t> expected_{kOutputs, kOutputs + sizeof(kOutputs)};
};

TEST_F(ExtensionTest, RemembersFromOneExecutionToTheNext) {
  StandaloneModel<1 + kOutputCount> model;
  EXPECT_EQ(model.reset(), Error::InvalidState);
  ASSERT_EQ(load(model), Error::Ok);
  EXPECT_EQ(run(model), expected_);
  EXPECT_NE(run(model), expected_);
  ASSERT_EQ(model.reset(), Error::Ok);
  EXPECT_EQ(run(model), expected_);
  // Loaded again, it begins again.
  ASSERT_EQ(load(model), Error::Ok);
  EXPECT_EQ(run(model), expected_);
}

TEST_F(ExtensionTest, TwoModelsOfOnePayloadRememberApart) {
  AlignedBytes other_state(state_.size());
  StandaloneModel<1 + kOutputCount> one;
  StandaloneModel<1 + kOutputCount> other;
  ASSERT_EQ(load(one), Error::Ok);
  ASSERT_EQ(other.load(backend_, payload_.data(), payload_.size(), arena_.data(), arena_.size(),
                       other_state.data(), other_state.size()),
            Error::Ok);
  EXPECT_EQ(run(one), expected_);
  EXPECT_EQ(run(other), expected_);
}

TEST_F(ExtensionTest, AStateThatDoesNotFit) {
  StandaloneModel<1 + kOutputCount> model;
  const auto load_with = [&](void* state, std::size_t bytes) {
    return model.load(backend_, payload_.data(), payload_.size(), arena_.data(), arena_.size(),
                      state, bytes);
  };
  EXPECT_EQ(load_with(nullptr, 0), Error::MemoryAllocationFailed);
  EXPECT_EQ(load_with(nullptr, state_.size()), Error::MemoryAllocationFailed);
  EXPECT_EQ(load_with(state_.data(), state_.size() - 1), Error::MemoryAllocationFailed);
  EXPECT_EQ(load_with(state_.data() + 8, state_.size()), Error::MemoryAllocationFailed);
  EXPECT_EQ(model.tensor_count(), 0u);
  EXPECT_EQ(load_with(state_.data(), state_.size()), Error::Ok);
}

TEST_F(ExtensionTest, ReferencesOfAStateAreChecked) {
  EXPECT_EQ(open_with([](RunningPeakArgs&) {}), Error::Ok);
  EXPECT_EQ(open_with([](RunningPeakArgs& a) { a.greatest = make_ref(kBaseState, 64 - kCount); }),
            Error::Ok);
  constexpr void (*kWrong[])(RunningPeakArgs&) = {
      [](RunningPeakArgs& a) { a.greatest = make_ref(kBaseState, 64 - kCount + 1); },
      [](RunningPeakArgs& a) { a.greatest = make_ref(kBaseState, payload::kMaxRefOffset); },
      [](RunningPeakArgs& a) { a.greatest = make_ref(kBaseState + 1, 0); },
      [](RunningPeakArgs& a) { a.greatest = payload::kNoRef; },
      [](RunningPeakArgs& a) { a.greatest = a.peak; },
      [](RunningPeakArgs& a) { a.greatest = make_ref(payload::kBaseArena, 0); },
      [](RunningPeakArgs& a) { a.greatest = make_ref(payload::kBaseConstant, 0); },
      // Its operands must not overlap.
      [](RunningPeakArgs& a) { a.is_new = a.peak; },
      [](RunningPeakArgs& a) { a.is_new = a.input; },
      [](RunningPeakArgs& a) { a.peak = a.greatest; },
      [](RunningPeakArgs& a) { a.input = a.greatest; },
      [](RunningPeakArgs& a) { a.is_new = make_ref(kBaseState, kCount - 1); },
  };
  for (unsigned i = 0; i < std::size(kWrong); ++i) {
    EXPECT_EQ(open_with(kWrong[i]), Error::InvalidProgram) << i;
  }
  // An output may be the state of another call, but not of its own.
  EXPECT_EQ(open_with([](RunningPeakArgs& a) { a.is_new = make_ref(kBaseState, 32); }), Error::Ok);
}

TEST_F(ExtensionTest, WithoutPersistentMemoryThereIsNoState) {
  payload_.header().persistent_bytes = 0;
  EXPECT_EQ(open(), Error::InvalidProgram);
  payload_.header().persistent_bytes = 32;  // less than the second call's state
  EXPECT_EQ(open(), Error::InvalidProgram);
}

TEST_F(ExtensionTest, AnImageWithoutTheKernelOrItsProvider) {
  constexpr KernelTable without = {portable::kProvider, {portable::kAdd}};
  EXPECT_EQ(PayloadView::open(payload_.data(), payload_.size(), without).error(),
            Error::DelegateInvalidCompatibility);
  // A kernel that relies on something that only CMSIS-NN's calls provide.
  const Kernel other = extension::kRunningPeak.only_of(payload::ProviderId::kCmsisNn);
  const KernelTable table = kKernels.with(other);
  EXPECT_EQ(PayloadView::open(payload_.data(), payload_.size(), table).error(),
            Error::DelegateInvalidCompatibility);
  auto& call = payload_.at<payload::CallHeader>(payload_.header().calls_offset);
  call.provider = 0;
  EXPECT_EQ(open(), Error::DelegateInvalidCompatibility);
}

}  // namespace
}  // namespace cmsis_nn_delegate
