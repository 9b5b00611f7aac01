// Frames get through, and nothing else does, whatever a line does to the bytes.
#include "runtime/runner/serial/frame.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace cmsis_nn_delegate::runner::serial {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Message {
  std::uint8_t type;
  std::uint8_t sequence;
  Bytes data;

  bool operator==(const Message& other) const {
    return type == other.type && sequence == other.sequence && data == other.data;
  }
};

Bytes sent(const Message& message) {
  Bytes bytes;
  write_frame({message.type, message.sequence, message.data.data(), message.data.size()},
              [&bytes](std::uint8_t byte) { bytes.push_back(byte); });
  return bytes;
}

std::vector<Message> received(FrameReader& reader, const Bytes& bytes) {
  std::vector<Message> found;
  for (const std::uint8_t byte : bytes) {
    if (reader.take(byte)) {
      const Frame& frame = reader.frame();
      found.push_back({frame.type, frame.sequence, Bytes(frame.data, frame.data + frame.size)});
    }
  }
  return found;
}

/// Half of the bytes are those that have to be escaped.
Message random_message(std::mt19937& random, std::size_t most = kMaxData) {
  Message message = {static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random()), {}};
  message.data.resize(random() % (most + 1));
  for (std::uint8_t& byte : message.data) {
    byte = static_cast<std::uint8_t>(random() % 2 == 0 ? random() : 0x7d + random() % 2);
  }
  return message;
}

TEST(Frame, IsWhatWasSent) {
  std::mt19937 random(1);
  FrameReader reader;
  for (int i = 0; i < 200; ++i) {
    const Message message = random_message(random);
    EXPECT_EQ(received(reader, sent(message)), std::vector{message});
  }
}

TEST(Frame, IsRefusedWithAWrongBit) {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    Bytes bytes = sent(random_message(random, 40));
    bytes[random() % bytes.size()] ^= 1 << random() % 8;
    FrameReader reader;
    EXPECT_TRUE(received(reader, bytes).empty());
  }
}

TEST(Frame, IsFoundAfterAnything) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    FrameReader reader;
    Bytes bytes(random() % (3 * kMaxData));
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(random());
    }
    const Bytes lost = sent(random_message(random));
    bytes.insert(bytes.end(), lost.begin(), lost.begin() + random() % lost.size());
    EXPECT_TRUE(received(reader, bytes).empty());
    // Its first flag may be the last one of a frame that lacks nothing else.
    const Message message = random_message(random);
    const std::vector<Message> found = received(reader, sent(message));
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.back(), message);
  }
}

TEST(Frame, ThatIsTooLongIsRefused) {
  FrameReader reader;
  EXPECT_TRUE(received(reader, sent({1, 2, Bytes(kMaxData + 1)})).empty());
  EXPECT_TRUE(received(reader, sent({1, 2, Bytes(5 * kMaxData)})).empty());
  EXPECT_EQ(received(reader, sent({1, 2, Bytes(kMaxData)})).size(), 1U);
}

}  // namespace
}  // namespace cmsis_nn_delegate::runner::serial
