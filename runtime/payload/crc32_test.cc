#include "runtime/payload/crc32.h"

#include <gtest/gtest.h>

#include "tests/payloads/payload_builder.h"

namespace cmsis_nn_delegate {
namespace {

TEST(Crc32, CheckValueOfTheStandard) {
  EXPECT_EQ(crc32("123456789", 9), 0xCBF43926u);
  EXPECT_EQ(crc32("", 0), 0u);
}

TEST(Crc32, ContinuesWhereItStopped) {
  const char text[] = "The quick brown fox jumps over the lazy dog";
  for (std::size_t split = 0; split < sizeof(text); ++split) {
    const std::uint32_t first = crc32(text, split);
    EXPECT_EQ(crc32(text + split, sizeof(text) - split, first), crc32(text, sizeof(text)));
  }
}

TEST(PayloadCrc32, TakesItsFieldAsZero) {
  testing::AlignedBytes payload = testing::small_network();
  const std::uint32_t expected = payload.header().crc32;
  payload.header().crc32 = 0xDEADBEEF;
  EXPECT_EQ(payload_crc32(payload.data(), payload.size()), expected);
  payload.header().crc32 = 0;
  EXPECT_EQ(crc32(payload.data(), payload.size()), expected);
}

TEST(PayloadCrc32, SeesEverySingleBit) {
  testing::AlignedBytes payload = testing::small_network();
  const std::uint32_t expected = payload.header().crc32;
  for (std::size_t i = 0; i < payload.size(); ++i) {
    if (i >= offsetof(payload::Header, crc32) && i < offsetof(payload::Header, crc32) + 4) {
      continue;
    }
    payload.data()[i] ^= static_cast<std::uint8_t>(1u << (i % 8));
    ASSERT_NE(payload_crc32(payload.data(), payload.size()), expected) << "byte " << i;
    payload.data()[i] ^= static_cast<std::uint8_t>(1u << (i % 8));
  }
}

}  // namespace
}  // namespace cmsis_nn_delegate
