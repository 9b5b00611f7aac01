#include "runtime/standalone/model.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/payload_builder.h"

namespace cmsis_nn_delegate {
namespace {

using executorch::runtime::Error;
using testing::AlignedBytes;

// testing::all_operators(): a float image, int8 scores, float logits.
constexpr std::size_t kTensors = 3;
constexpr std::size_t kArenaBytes = 640;

class StandaloneModelTest : public ::testing::Test {
 protected:
  Error load(StandaloneModelBase& model, std::size_t arena_bytes = kArenaBytes) {
    return model.load(backend_, payload_.data(), payload_.size(), arena_.data(), arena_bytes);
  }

  AlignedBytes payload_ = testing::all_operators();
  AlignedBytes arena_{kArenaBytes};
  const CmsisNnBackend backend_{kPortableKernels};
};

TEST_F(StandaloneModelTest, RunsAsOftenAsWanted) {
  StandaloneModel<kTensors> model;
  ASSERT_EQ(load(model), Error::Ok);
  ASSERT_EQ(model.tensor_count(), kTensors);
  std::vector<float> image(model.tensor(0).nbytes / sizeof(float));
  std::vector<AlignedBytes> memory;
  for (std::size_t i = 0; i < kTensors; ++i) {
    memory.emplace_back(model.tensor(i).nbytes);
    if (model.data(i) == nullptr) {
      model.set_data(i, memory[i].data());
    }
  }
  const auto run = [&](float first) {
    for (std::size_t i = 0; i < image.size(); ++i) {
      image[i] = first + static_cast<float>((i * 29) % 97) / 24.0f - 2.0f;
    }
    std::memcpy(model.data(0), image.data(), model.tensor(0).nbytes);
    EXPECT_EQ(model.run(), Error::Ok);
    const auto* scores = static_cast<const std::uint8_t*>(model.data(1));
    const auto* logits = static_cast<const std::uint8_t*>(model.data(2));
    std::vector<std::uint8_t> outputs(scores, scores + model.tensor(1).nbytes);
    outputs.insert(outputs.end(), logits, logits + model.tensor(2).nbytes);
    return outputs;
  };
  const auto once = run(0.0f);
  EXPECT_NE(run(1.0f), once);
  EXPECT_EQ(run(0.0f), once);
}

TEST_F(StandaloneModelTest, RunBeforeLoad) {
  StandaloneModel<kTensors> model;
  EXPECT_EQ(model.run(), Error::InvalidState);
}

TEST_F(StandaloneModelTest, RefusesAndCanBeLoadedAgain) {
  StandaloneModel<kTensors> model;
  EXPECT_EQ(load(model, kArenaBytes - 1), Error::MemoryAllocationFailed);
  EXPECT_EQ(model.load(backend_, payload_.data(), payload_.size(), arena_.data() + 8, kArenaBytes),
            Error::MemoryAllocationFailed);
  EXPECT_EQ(model.load(backend_, payload_.data(), payload_.size() - 16, arena_.data(), kArenaBytes),
            Error::InvalidProgram);
  EXPECT_EQ(model.run(), Error::InvalidState);
  EXPECT_EQ(model.tensor_count(), 0u);
  EXPECT_EQ(load(model), Error::Ok);

  StandaloneModel<kTensors - 1> small;
  EXPECT_EQ(load(small), Error::InvalidArgument);
}

TEST_F(StandaloneModelTest, MissingMemoryIsAnError) {
  StandaloneModel<kTensors> model;
  ASSERT_EQ(load(model), Error::Ok);
  model.set_data(0, nullptr);
  EXPECT_EQ(model.run(), Error::InvalidArgument);
}

}  // namespace
}  // namespace cmsis_nn_delegate
