#include "runtime/standalone/model.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/kernels/portable/portable.h"
#include "tests/payloads/payload_builder.h"

namespace cmsis_nn_delegate {
namespace {

using executorch::runtime::Error;
using testing::AlignedBytes;

// testing::small_network(): a float image, int8 scores, float logits.
constexpr std::size_t kTensors = 3;
constexpr std::size_t kArenaBytes = 640;

class StandaloneModelTest : public ::testing::Test {
 protected:
  Error load(StandaloneModelBase& model, std::size_t arena_bytes = kArenaBytes) {
    return model.load(backend_, payload_.data(), payload_.size(), arena_.data(), arena_bytes);
  }

  AlignedBytes payload_ = testing::small_network();
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
      EXPECT_EQ(model.set_data(i, memory[i].data()), Error::Ok);
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
  EXPECT_EQ(small.run(), Error::InvalidState);
}

TEST_F(StandaloneModelTest, NoPayloadOrNoArena) {
  StandaloneModel<kTensors> model;
  EXPECT_EQ(model.load(backend_, nullptr, payload_.size(), arena_.data(), kArenaBytes),
            Error::InvalidArgument);
  for (const std::size_t bytes : {std::size_t{0}, kArenaBytes, SIZE_MAX}) {
    EXPECT_EQ(model.load(backend_, payload_.data(), payload_.size(), nullptr, bytes),
              Error::MemoryAllocationFailed);
    EXPECT_EQ(model.run(), Error::InvalidState);
  }
  // Longer than the address space behind it.
  void* last = reinterpret_cast<void*>(UINTPTR_MAX - 15);
  EXPECT_EQ(model.load(backend_, payload_.data(), payload_.size(), last, kArenaBytes),
            Error::MemoryAllocationFailed);
}

TEST_F(StandaloneModelTest, APayloadWithoutArenaNeedsNone) {
  testing::PayloadBuilder builder;
  payload::QuantizeArgs args = {};
  args.input = builder.input(payload::DType::kFloat32, {1, 4});
  args.output = builder.output(payload::DType::kInt8, {1, 4});
  args.batch = 1;
  args.channels = 1;
  args.pixels = 4;
  args.inverse_scale = 2.0f;
  builder.call(payload::Opcode::kQuantize, args);
  const AlignedBytes payload = builder.finish();
  for (void* arena : {static_cast<void*>(nullptr), static_cast<void*>(arena_.data() + 1)}) {
    StandaloneModel<2> model;
    ASSERT_EQ(model.load(backend_, payload.data(), payload.size(), arena, 0), Error::Ok);
    EXPECT_EQ(model.run(), Error::InvalidArgument);  // no data yet
    float input[] = {1.0f, -1.0f, 2.0f, 0.0f};
    std::int8_t output[4] = {};
    ASSERT_EQ(model.set_data(0, input), Error::Ok);
    ASSERT_EQ(model.set_data(1, output), Error::Ok);
    ASSERT_EQ(model.run(), Error::Ok);
    EXPECT_EQ(output[0], 2);
    EXPECT_EQ(output[1], -2);
    EXPECT_EQ(output[2], 4);
  }
}

TEST_F(StandaloneModelTest, TensorsThatAreNotThere) {
  StandaloneModel<kTensors + 2> model;  // room for two more than there are
  const auto is_none = [&](std::size_t index) {
    return model.data(index) == nullptr && model.tensor(index).nbytes == 0 &&
           model.tensor(index).rank == 0 &&
           model.tensor(index).arena_offset == payload::kNoArenaOffset;
  };
  float memory[1];
  for (const std::size_t index : {std::size_t{0}, kTensors, SIZE_MAX}) {
    EXPECT_TRUE(is_none(index));
    EXPECT_EQ(model.set_data(index, memory), Error::InvalidState);
  }
  ASSERT_EQ(load(model), Error::Ok);
  for (std::size_t index = 0; index < kTensors; ++index) {
    EXPECT_GT(model.tensor(index).nbytes, 0u);
  }
  for (const std::size_t index : {kTensors, kTensors + 1, kTensors + 2, SIZE_MAX}) {
    EXPECT_TRUE(is_none(index));
    EXPECT_EQ(model.set_data(index, memory), Error::InvalidArgument);
  }
  // A load that fails takes them away again.
  EXPECT_EQ(load(model, 0), Error::MemoryAllocationFailed);
  EXPECT_TRUE(is_none(0));
  EXPECT_EQ(model.set_data(0, memory), Error::InvalidState);
}

TEST_F(StandaloneModelTest, ABackendThatTakesTheArenaAtInitRunsTheSame) {
  const CmsisNnBackend eager(kPortableKernels, Config{/*verify_crc=*/true, /*arena_at_init=*/true});
  StandaloneModel<kTensors> model;
  ASSERT_EQ(model.load(eager, payload_.data(), payload_.size(), arena_.data(), kArenaBytes),
            Error::Ok);
  std::vector<AlignedBytes> memory;
  for (std::size_t i = 0; i < kTensors; ++i) {
    memory.emplace_back(model.tensor(i).nbytes);
    ASSERT_EQ(model.set_data(i, memory[i].data()), Error::Ok);
  }
  EXPECT_EQ(model.run(), Error::Ok);
  // The rest of its configuration counts.
  payload_.data()[payload_.size() - 20] ^= 1;  // a weight
  EXPECT_EQ(model.load(eager, payload_.data(), payload_.size(), arena_.data(), kArenaBytes),
            Error::InvalidProgram);
}

TEST_F(StandaloneModelTest, RefusesMemoryThatOverlapsOtherMemoryOfTheModel) {
  constexpr std::size_t kArena = 48;
  constexpr std::size_t kRegions[] = {64, 96};
  constexpr std::size_t kKept = 32;
  testing::PayloadBuilder builder;
  builder.set_arena(kArena);
  payload::QuantizeArgs args = {};
  args.input = builder.input(payload::DType::kFloat32, {1, 4});
  args.output = builder.output(payload::DType::kInt8, {1, 4});
  args.batch = 1;
  args.channels = 1;
  args.pixels = 4;
  args.inverse_scale = 2.0f;
  for (const std::size_t bytes : kRegions) {
    builder.region(static_cast<std::uint32_t>(bytes));  // that no call uses
  }
  builder.call(payload::Opcode::kQuantize, args);
  AlignedBytes payload = builder.finish();
  payload.header().persistent_bytes = kKept;

  struct Piece {
    std::size_t at;
    std::size_t bytes;
  };
  enum : std::size_t { kPayload, kArenaPiece, kFirst, kSecond, kState, kPieces };
  constexpr std::size_t kStep = 256;
  const std::size_t behind = (payload.size() / kStep + 2) * kStep;
  const Piece apart[kPieces] = {{kStep, payload.size()},
                                {behind, kArena},
                                {behind + kStep, kRegions[0]},
                                {behind + 2 * kStep, kRegions[1]},
                                {behind + 3 * kStep, payload::kStateOffset + kKept}};
  AlignedBytes all(behind + 4 * kStep);
  std::uint8_t* const begin = all.data();
  std::memcpy(begin + apart[kPayload].at, payload.data(), payload.size());
  // Each piece but the payload is put everywhere around the others.
  for (std::size_t moved = kArenaPiece; moved < kPieces; ++moved) {
    for (const bool arena_at_init : {false, true}) {
      std::array<Piece, kPieces> pieces;
      std::copy(std::begin(apart), std::end(apart), pieces.begin());
      std::size_t& at = pieces[moved].at;
      for (at = 0; at + pieces[moved].bytes <= all.size(); at += 16) {
        bool expected = true;
        for (std::size_t other = 0; other < kPieces; ++other) {
          expected = expected && (other == moved || at + pieces[moved].bytes <= pieces[other].at ||
                                  at >= pieces[other].at + pieces[other].bytes);
        }
        const MemoryRegion regions[] = {{begin + pieces[kFirst].at, pieces[kFirst].bytes},
                                        {begin + pieces[kSecond].at, pieces[kSecond].bytes}};
        const CmsisNnBackend backend(kPortableKernels,
                                     Config{/*verify_crc=*/false, arena_at_init, regions, 2});
        StandaloneModel<2> model;
        EXPECT_EQ(model.load(backend, begin + pieces[kPayload].at, payload.size(),
                             begin + pieces[kArenaPiece].at, kArena, begin + pieces[kState].at,
                             pieces[kState].bytes),
                  expected ? Error::Ok : Error::MemoryAllocationFailed)
            << "piece " << moved << " at " << at;
        ASSERT_EQ(std::memcmp(begin + pieces[kPayload].at, payload.data(), payload.size()), 0);
      }
    }
  }
  // So is the output; where the state is, set_data() does not know.
  const MemoryRegion regions[] = {{begin + apart[kFirst].at, kRegions[0]},
                                  {begin + apart[kSecond].at, kRegions[1]}};
  const CmsisNnBackend backend(kPortableKernels, Config{false, false, regions, 2});
  StandaloneModel<2> model;
  ASSERT_EQ(
      model.load(backend, begin + apart[kPayload].at, payload.size(), begin + apart[kArenaPiece].at,
                 kArena, begin + apart[kState].at, apart[kState].bytes),
      Error::Ok);
  for (std::size_t at = 0; at + model.tensor(1).nbytes <= all.size(); ++at) {
    bool expected = true;
    for (std::size_t other = 0; other < kState; ++other) {
      expected = expected && (at + model.tensor(1).nbytes <= apart[other].at ||
                              at >= apart[other].at + apart[other].bytes);
    }
    EXPECT_EQ(model.set_data(1, begin + at), expected ? Error::Ok : Error::InvalidArgument) << at;
  }
}

TEST_F(StandaloneModelTest, RefusesTensorsInTheArenaButWhereTheyHaveRoom) {
  AlignedBytes all(3 * kArenaBytes);
  std::uint8_t* const arena = all.data() + kArenaBytes;
  StandaloneModel<kTensors> model;
  ASSERT_EQ(model.load(backend_, payload_.data(), payload_.size(), arena, kArenaBytes), Error::Ok);
  for (std::size_t index = 0; index < kTensors; ++index) {
    const payload::IoTensor& tensor = model.tensor(index);
    void* const own = model.data(index);
    for (std::size_t at = 0; at + tensor.nbytes <= all.size(); ++at) {
      std::uint8_t* const data = all.data() + at;
      const bool apart = data + tensor.nbytes <= arena || data >= arena + kArenaBytes;
      EXPECT_EQ(model.set_data(index, data),
                apart || data == own ? Error::Ok : Error::InvalidArgument)
          << index << " " << at;
    }
    EXPECT_EQ(model.set_data(index, own), Error::Ok);
  }
}

TEST_F(StandaloneModelTest, MissingMemoryIsAnError) {
  StandaloneModel<kTensors> model;
  ASSERT_EQ(load(model), Error::Ok);
  ASSERT_EQ(model.set_data(0, nullptr), Error::Ok);
  EXPECT_EQ(model.run(), Error::InvalidArgument);
}

}  // namespace
}  // namespace cmsis_nn_delegate
