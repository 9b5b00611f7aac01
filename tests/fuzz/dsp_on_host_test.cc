// Compares the emulated instructions with their definitions, computed in another way, and with examples
// computed by hand.
#include "tests/fuzz/dsp_on_host.h"

#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace {

TEST(DspOnHost, Examples) {
  EXPECT_EQ(CLZ(0), 32);
  EXPECT_EQ(CLZ(1), 31);
  EXPECT_EQ(CLZ(0x80000000u), 0);
  EXPECT_EQ(ROR(0x11223344u, 8), 0x44112233u);
  EXPECT_EQ(ROR(0x11223344u, 0), 0x11223344u);
  EXPECT_EQ(ROR(0x11223344u, 32), 0x11223344u);
  EXPECT_EQ(SXTB16(0x11803301u), 0xFF800001u);
  EXPECT_EQ(SXTB16_RORn(0x80117F33u, 8), 0xFF80007Fu);
  EXPECT_EQ(SXTAB16(0x0001FFFFu, 0x00FF0001u), 0x00000000u);
  EXPECT_EQ(SXTAB16_RORn(0x00010001u, 0x80117F33u, 8), 0xFF810080u);
  EXPECT_EQ(PKHBT(0x11112222u, 0x33334444u, 16), 0x44442222u);
  EXPECT_EQ(PKHBT(0x11112222u, 0x33334444u, 0), 0x33332222u);
  EXPECT_EQ(PKHTB(0x11112222u, 0x33334444u, 16), 0x11113333u);
  EXPECT_EQ(PKHTB(0x11112222u, 0x80000000u, 16), 0x11118000u);
  EXPECT_EQ(PKHTB(0x11112222u, 0x80000000u, 20), 0x1111F800u);
  EXPECT_EQ(SMULBB(0x1111FFFFu, 0x22220002u), 0xFFFFFFFEu);
  EXPECT_EQ(SMULTT(0xFFFF1111u, 0x00022222u), 0xFFFFFFFEu);
  EXPECT_EQ(SMLABB(0x80008000u, 0x80008000u, 0x40000000u), 0x80000000u);
  EXPECT_EQ(SMLATT(0x00030005u, 0x00070009u, 1u), 22u);
  EXPECT_EQ(SMLAD(0x80008000u, 0x80008000u, 0u), 0x80000000u);
  EXPECT_EQ(SMLAD(0x80008000u, 0x80008000u, 0x80000000u), 0u);
  EXPECT_EQ(SMLALD(0x80008000u, 0x80008000u, 1u), 0x80000001u);
  EXPECT_EQ(SMLALD(0x0001FFFFu, 0x00010002u, 0u), 0xFFFFFFFFFFFFFFFFu);
  EXPECT_EQ(SADD16(0x7FFFFFFFu, 0x00010001u), 0x80000000u);
  EXPECT_EQ(QADD(INT32_MAX, 1), INT32_MAX);
  EXPECT_EQ(QADD(INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(QADD(-5, 3), -2);
  EXPECT_EQ(QSUB16(0x80007FFFu, 0x0001FFFFu), 0x80007FFFu);
  EXPECT_EQ(QSUB8(0x807F0005u, 0x01FF0103u), 0x807FFF02u);
}

/// Lane `index` of `bits` bits, signed.
std::int64_t lane(std::uint32_t value, unsigned bits, unsigned index) {
  const std::int64_t range = std::int64_t{1} << bits;
  const auto part = static_cast<std::int64_t>((value >> (bits * index)) % range);
  return part >= range / 2 ? part - range : part;
}

/// `value` as stored in a lane of `bits` bits.
std::int64_t wrapped(std::int64_t value, unsigned bits) {
  const std::int64_t range = std::int64_t{1} << bits;
  const std::int64_t part = ((value % range) + range) % range;
  return part >= range / 2 ? part - range : part;
}

TEST(DspOnHost, LanesOfRandomWords) {
  std::mt19937 random(7);
  for (int i = 0; i < 100000; ++i) {
    const std::uint32_t a = random();
    const std::uint32_t b = random();
    const std::uint32_t c = random();
    for (unsigned half = 0; half < 2; ++half) {
      EXPECT_EQ(lane(SXTB16(a), 16, half), lane(a, 8, 2 * half));
      EXPECT_EQ(lane(SXTB16_RORn(a, 8), 16, half), lane(a, 8, 2 * half + 1));
      EXPECT_EQ(lane(SXTAB16(c, a), 16, half),
                wrapped(lane(c, 16, half) + lane(a, 8, 2 * half), 16));
      EXPECT_EQ(lane(SXTAB16_RORn(c, a, 8), 16, half),
                wrapped(lane(c, 16, half) + lane(a, 8, 2 * half + 1), 16));
      EXPECT_EQ(lane(SADD16(a, b), 16, half), wrapped(lane(a, 16, half) + lane(b, 16, half), 16));
      const std::int64_t difference = lane(a, 16, half) - lane(b, 16, half);
      EXPECT_EQ(lane(QSUB16(a, b), 16, half),
                difference > 32767 ? 32767 : (difference < -32768 ? -32768 : difference));
    }
    for (unsigned byte = 0; byte < 4; ++byte) {
      const std::int64_t difference = lane(a, 8, byte) - lane(b, 8, byte);
      EXPECT_EQ(lane(QSUB8(a, b), 8, byte),
                difference > 127 ? 127 : (difference < -128 ? -128 : difference));
    }
    const std::int64_t bottom = lane(a, 16, 0) * lane(b, 16, 0);
    const std::int64_t top = lane(a, 16, 1) * lane(b, 16, 1);
    const std::int64_t sum = lane(c, 32, 0);
    EXPECT_EQ(lane(SMULBB(a, b), 32, 0), bottom);
    EXPECT_EQ(lane(SMULTT(a, b), 32, 0), top);
    EXPECT_EQ(lane(SMLABB(a, b, c), 32, 0), wrapped(bottom + sum, 32));
    EXPECT_EQ(lane(SMLATT(a, b, c), 32, 0), wrapped(top + sum, 32));
    EXPECT_EQ(lane(SMLAD(a, b, c), 32, 0), wrapped(bottom + top + sum, 32));
    EXPECT_EQ(static_cast<std::int64_t>(SMLALD(a, b, static_cast<std::uint64_t>(sum))),
              bottom + top + sum);
  }
}

}  // namespace
