#include "examples/field_update/model_slots.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/kernels/portable/portable.h"
#include "tests/payloads/payload_builder.h"

namespace field_update {
namespace {

using cmsis_nn_delegate::CmsisNnBackend;
using cmsis_nn_delegate::Config;
using cmsis_nn_delegate::testing::AlignedBytes;
using cmsis_nn_delegate::testing::operator_payload;

namespace payload = cmsis_nn_delegate::payload;

constexpr std::size_t kSlotBytes = 4096;

/// Flash that loses its power after a number of bytes.
class FragileFlash final : public Flash {
 public:
  bool erase(std::size_t offset, std::size_t bytes) override {
    for (std::size_t i = 0; i < bytes && step(); ++i) {
      bytes_.data()[offset + i] = 0xFF;
    }
    return powered();
  }
  bool write(std::size_t offset, const std::uint8_t* data, std::size_t bytes) override {
    for (std::size_t i = 0; i < bytes && step(); ++i) {
      EXPECT_EQ(bytes_.data()[offset + i], 0xFF) << "is not erased";
      bytes_.data()[offset + i] = data[i];
    }
    return powered();
  }
  const std::uint8_t* memory() const override { return bytes_.data(); }

  bool powered() const { return left_ != 0; }
  void set_power(std::size_t steps) { left_ = steps; }
  std::size_t used() const { return used_; }

 private:
  bool step() {
    ++used_;
    return left_ != 0 && --left_ != 0;
  }

  AlignedBytes bytes_{ModelSlots::kCount * kSlotBytes};
  std::size_t left_ = SIZE_MAX;
  std::size_t used_ = 0;
};

/// A payload of one call. Its inputs and outputs have places in the arena.
std::vector<std::uint8_t> payload_of(payload::Opcode opcode = payload::Opcode::kMaxPool2d) {
  const AlignedBytes bytes = operator_payload(opcode);
  return {bytes.data(), bytes.data() + bytes.size()};
}

/// The sizes of the input and the output of that payload.
Interface interface_of() {
  AlignedBytes bytes = operator_payload(payload::Opcode::kMaxPool2d);
  const auto* tensors = &bytes.at<payload::IoTensor>(bytes.header().header_bytes);
  return {tensors[0].nbytes, tensors[1].nbytes};
}

void put(std::vector<std::uint8_t>& bytes, std::size_t offset, std::uint32_t value,
         std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    bytes[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

/// An image as imgtool writes it, with tags that say nothing.
std::vector<std::uint8_t> image_of(const std::vector<std::uint8_t>& body, std::uint8_t major) {
  std::vector<std::uint8_t> image(kImageHeaderBytes);
  put(image, 0, 0x96f3b83d, 4);
  put(image, 8, kImageHeaderBytes, 2);
  put(image, 12, static_cast<std::uint32_t>(body.size()), 4);
  image[20] = major;
  image.insert(image.end(), body.begin(), body.end());
  image.resize(image.size() + 4);
  put(image, image.size() - 4, 0x6907, 2);
  put(image, image.size() - 2, 4, 2);
  return image;
}

class ModelSlotsTest : public ::testing::Test {
 protected:
  ModelSlotsTest() {
    static_cast<void>(flash_.erase(0, ModelSlots::kCount * kSlotBytes));
    EXPECT_FALSE(slots_.start());
    EXPECT_EQ(update(slots_, image_of(payload_of(), 1)), Refusal::kNone);
  }

  Refusal update(ModelSlots& slots, const std::vector<std::uint8_t>& image,
                 std::size_t part_bytes = 64) {
    Refusal refusal = slots.begin_update();
    for (std::size_t at = 0; at < image.size() && refusal == Refusal::kNone; at += part_bytes) {
      refusal = slots.append(image.data() + at, std::min(part_bytes, image.size() - at));
    }
    return refusal == Refusal::kNone ? slots.finish_update() : refusal;
  }

  /// The firmware after a reset.
  ModelSlots restarted() {
    return {backend_, flash_, kSlotBytes, interface_of(), arena_.data(), arena_.size()};
  }

  FragileFlash flash_;
  AlignedBytes arena_{1024};
  const CmsisNnBackend backend_{cmsis_nn_delegate::kPortableKernels, [] {
                                  Config config;
                                  config.verify_crc = true;
                                  return config;
                                }()};
  ModelSlots slots_{backend_, flash_, kSlotBytes, interface_of(), arena_.data(), arena_.size()};
};

TEST_F(ModelSlotsTest, TakesPartsOfAnySize) {
  std::uint8_t major = 2;
  for (const std::size_t part_bytes : {1, 7, 31, 32, 33, 4096}) {
    EXPECT_EQ(update(slots_, image_of(payload_of(), major), part_bytes), Refusal::kNone);
    EXPECT_EQ(slots_.version(slots_.used()).major, major);
    ++major;
  }
}

TEST_F(ModelSlotsTest, APowerFailureAtAnyByteLeavesAModel) {
  const auto image = image_of(payload_of(), 2);
  const std::size_t before = flash_.used();
  {
    ModelSlots slots = restarted();
    ASSERT_TRUE(slots.start());
    ASSERT_EQ(update(slots, image), Refusal::kNone);
  }
  const std::size_t steps = flash_.used() - before;
  int old_models = 0;
  int new_models = 0;
  for (std::size_t power = 1; power <= steps + 1; ++power) {
    // Back to version 1 in one slot, and something else in the other.
    static_cast<void>(flash_.erase(0, ModelSlots::kCount * kSlotBytes));
    ModelSlots first = restarted();
    ASSERT_FALSE(first.start());
    ASSERT_EQ(update(first, image_of(payload_of(), 1)), Refusal::kNone);

    flash_.set_power(power);
    static_cast<void>(update(first, image));
    flash_.set_power(SIZE_MAX);

    ModelSlots after = restarted();
    ASSERT_TRUE(after.start()) << power;
    (after.version(after.used()).major == 1 ? old_models : new_models) += 1;
    // And the device can be updated again.
    ASSERT_EQ(update(after, image_of(payload_of(), 3)), Refusal::kNone) << power;
  }
  EXPECT_GT(old_models, 0);
  EXPECT_GT(new_models, 0);
}

TEST_F(ModelSlotsTest, NoChangedBitOfThePayloadIsTaken) {
  const auto good = image_of(payload_of(), 2);
  for (std::size_t at = kImageHeaderBytes; at < good.size() - 4; ++at) {
    auto bad = good;
    bad[at] ^= static_cast<std::uint8_t>(1u << (at % 8));
    ASSERT_NE(update(slots_, bad), Refusal::kNone) << at;
    ASSERT_EQ(slots_.version(slots_.used()).major, 1) << at;
  }
  EXPECT_EQ(update(slots_, good), Refusal::kNone);
}

TEST_F(ModelSlotsTest, NoImageOfAnotherSizeIsTaken) {
  const auto good = image_of(payload_of(), 2);
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    ASSERT_NE(update(slots_, {good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes)}),
              Refusal::kNone)
        << bytes;
    ASSERT_EQ(slots_.version(slots_.used()).major, 1) << bytes;
  }
  // Each field of the header that has sizes, with every value that one byte can give it.
  for (const std::size_t at : {8, 9, 10, 11, 12, 13, 14, 15}) {
    for (int value = 0; value < 256; ++value) {
      auto bad = good;
      if (bad[at] == value) {
        continue;
      }
      bad[at] = static_cast<std::uint8_t>(value);
      ASSERT_NE(update(slots_, bad), Refusal::kNone) << at << " " << value;
    }
  }
}

TEST_F(ModelSlotsTest, RefusesOtherTensors) {
  EXPECT_EQ(update(slots_, image_of(payload_of(payload::Opcode::kConv2d), 2)),
            Refusal::kOtherTensors);
  ModelSlots after = restarted();
  EXPECT_TRUE(after.start());
  EXPECT_EQ(after.version(after.used()).major, 1);
}

TEST_F(ModelSlotsTest, SaysThatNoUpdateHasBegun) {
  EXPECT_EQ(slots_.append(nullptr, 0), Refusal::kOutOfOrder);
  EXPECT_EQ(slots_.finish_update(), Refusal::kOutOfOrder);
}

TEST_F(ModelSlotsTest, ExplainsEveryRefusalInAnotherWay) {
  std::vector<std::string> seen;
  for (int i = 0; i <= static_cast<int>(Refusal::kOutOfOrder); ++i) {
    const std::string text = explain(static_cast<Refusal>(i));
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(std::count(seen.begin(), seen.end(), text), 0) << text;
    seen.push_back(text);
  }
}

}  // namespace
}  // namespace field_update
