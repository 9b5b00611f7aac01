// Instructions as GNU as encodes them, with the cycles of the manual; and sequences of them.
#include "sim/qemu/m4_timing.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace {

constexpr std::uint16_t reg(int number) { return static_cast<std::uint16_t>(1 << number); }
constexpr std::uint16_t kNone = 0;

struct Case {
  const char* text;
  std::vector<std::uint16_t> code;
  M4Kind kind;
  int min_cycles;
  int max_cycles;
  std::uint16_t writes;
  std::uint16_t address;
};

const Case kCases[] = {
    {"movs r3, #1", {0x2301}, kM4Data, 1, 1, reg(3), kNone},
    {"adds r1, r2, r3", {0x18d1}, kM4Data, 1, 1, reg(1), kNone},
    {"cmp r2, #3", {0x2a03}, kM4Other, 1, 1, kNone, kNone},
    {"lsls r4, r5", {0x40ac}, kM4Data, 1, 1, reg(4), kNone},
    {"tst r1, r2", {0x4211}, kM4Other, 1, 1, kNone, kNone},
    {"mov r8, r1", {0x4688}, kM4Data, 1, 1, reg(8), kNone},
    {"cmp r8, r1", {0x4588}, kM4Other, 1, 1, kNone, kNone},
    {"mov pc, lr", {0x46f7}, kM4Branch, 1, 1, kNone, kNone},
    {"bx lr", {0x4770}, kM4Branch, 1, 1, kNone, kNone},
    {"ldr r2, [pc, #8]", {0x4a02}, kM4Load, 2, 3, reg(2), reg(15)},
    {"str r1, [r2, r3]", {0x50d1}, kM4StoreOffset, 2, 2, kNone, reg(2) | reg(3)},
    {"ldrsb r1, [r2, r3]", {0x56d1}, kM4Load, 2, 2, reg(1), reg(2) | reg(3)},
    {"ldrh r5, [r6, #2]", {0x8875}, kM4Load, 2, 2, reg(5), reg(6)},
    {"strb r5, [r6, #2]", {0x70b5}, kM4Store, 1, 1, kNone, reg(6)},
    {"ldr r5, [sp, #4]", {0x9d01}, kM4Load, 2, 2, reg(5), reg(13)},
    {"add r5, sp, #4", {0xad01}, kM4Data, 1, 1, reg(5), kNone},
    {"sub sp, #8", {0xb082}, kM4Data, 1, 1, reg(13), kNone},
    {"cbz r1, x", {0xb1a1}, kM4Branch, 1, 1, kNone, kNone},
    {"sxtb r1, r2", {0xb251}, kM4Data, 1, 1, reg(1), kNone},
    {"rev r1, r2", {0xba11}, kM4Data, 1, 1, reg(1), kNone},
    {"push {r4, r5, lr}", {0xb530}, kM4Multiple, 4, 4, kNone, reg(13)},
    {"pop {r4, pc}", {0xbd10}, kM4Multiple, 3, 3, kNone, reg(13)},
    {"it eq", {0xbf08}, kM4Other, 0, 1, kNone, kNone},
    {"nop", {0xbf00}, kM4Other, 1, 1, kNone, kNone},
    {"ldm r1!, {r2, r3, r4}", {0xc91c}, kM4Multiple, 4, 4, kNone, reg(1)},
    {"beq x", {0xd0f8}, kM4Branch, 1, 1, kNone, kNone},
    {"b x", {0xe7f7}, kM4Branch, 1, 1, kNone, kNone},
    {"ldm.w r1, {r2, r3, r8, r9}", {0xe891, 0x030c}, kM4Multiple, 5, 5, kNone, reg(1)},
    {"ldrd r2, r3, [r4, #8]", {0xe9d4, 0x2302}, kM4Multiple, 3, 3, kNone, reg(4)},
    {"strd r2, r3, [r4, #8]", {0xe9c4, 0x2302}, kM4Multiple, 3, 3, kNone, reg(4)},
    {"tbb [pc, r1]", {0xe8df, 0xf001}, kM4Branch, 2, 2, kNone, kNone},
    {"ldrex r1, [r2]", {0xe852, 0x1f00}, kM4Multiple, 2, 2, kNone, reg(2)},
    {"add.w r9, r8, r1", {0xeb08, 0x0901}, kM4Data, 1, 1, reg(9), kNone},
    {"cmp.w r9, r8", {0xebb9, 0x0f08}, kM4Other, 1, 1, kNone, kNone},
    {"movw r9, #1234", {0xf240, 0x49d2}, kM4Data, 1, 1, reg(9), kNone},
    {"cmp.w r9, #77", {0xf1b9, 0x0f4d}, kM4Other, 1, 1, kNone, kNone},
    {"bl x", {0xf7ff, 0xffd0}, kM4Branch, 1, 1, kNone, kNone},
    {"beq.w x", {0xf43f, 0xafe2}, kM4Branch, 1, 1, kNone, kNone},
    {"dmb", {0xf3bf, 0x8f5f}, kM4Other, 1, 1, kNone, kNone},
    {"ldr.w r9, [r8, #100]", {0xf8d8, 0x9064}, kM4Load, 2, 2, reg(9), reg(8)},
    {"ldr.w r9, [r8, r1, lsl #2]", {0xf858, 0x9021}, kM4Load, 2, 2, reg(9), reg(8) | reg(1)},
    {"str.w r9, [r8, r1, lsl #2]", {0xf848, 0x9021}, kM4StoreOffset, 2, 2, kNone, reg(8) | reg(1)},
    {"ldr r9, [r8], #4", {0xf858, 0x9b04}, kM4Load, 2, 2, reg(9), reg(8)},
    {"ldrsb.w r9, [r8, #-1]", {0xf918, 0x9c01}, kM4Load, 2, 2, reg(9), reg(8)},
    {"strh.w r9, [r8, #-1]", {0xf828, 0x9c01}, kM4Store, 1, 1, kNone, reg(8)},
    {"ldr.w r9, [pc, #100]", {0xf8df, 0x9064}, kM4Load, 2, 3, reg(9), reg(15)},
    {"sxtb16 r9, r8, ror #8", {0xfa2f, 0xf998}, kM4Data, 1, 1, reg(9), kNone},
    {"smlad r9, r8, r1, r2", {0xfb28, 0x2901}, kM4Data, 1, 1, reg(9), kNone},
    {"mul.w r9, r8, r1", {0xfb08, 0xf901}, kM4Data, 1, 1, reg(9), kNone},
    {"smmla r9, r8, r1, r2", {0xfb58, 0x2901}, kM4Data, 1, 1, reg(9), kNone},
    {"smull r9, r8, r1, r2", {0xfb81, 0x9802}, kM4Data, 1, 1, reg(9) | reg(8), kNone},
    {"smlald r9, r8, r1, r2", {0xfbc1, 0x98c2}, kM4Data, 1, 1, reg(9) | reg(8), kNone},
    {"sdiv r9, r8, r1", {0xfb98, 0xf9f1}, kM4Data, 2, 12, reg(9), kNone},
    {"udiv r9, r8, r1", {0xfbb8, 0xf9f1}, kM4Data, 2, 12, reg(9), kNone},
    {"ssat r9, #8, r8, asr #12", {0xf328, 0x3907}, kM4Data, 1, 1, reg(9), kNone},
    {"pkhbt r9, r8, r1, lsl #16", {0xeac8, 0x4901}, kM4Data, 1, 1, reg(9), kNone},
    {"vldr s0, [r1, #4]", {0xed91, 0x0a01}, kM4Multiple, 2, 2, kNone, reg(1)},
    {"vldr d0, [r1, #4]", {0xed91, 0x0b01}, kM4Multiple, 3, 3, kNone, reg(1)},
    {"vstmia r1!, {s0-s3}", {0xeca1, 0x0a04}, kM4Multiple, 5, 5, kNone, reg(1)},
    {"vmov r1, s0", {0xee10, 0x1a10}, kM4Data, 1, 1, reg(1), kNone},
    {"vmov s0, r1", {0xee00, 0x1a10}, kM4Other, 1, 1, kNone, kNone},
    {"vmov r1, r2, s0, s1", {0xec52, 0x1a10}, kM4Other, 2, 2, kNone, kNone},
    {"vmla.f32 s0, s1, s2", {0xee00, 0x0a81}, kM4Other, 3, 3, kNone, kNone},
    {"vdiv.f32 s0, s1, s2", {0xee80, 0x0a81}, kM4Other, 14, 14, kNone, kNone},
    {"vsqrt.f32 s0, s1", {0xeeb1, 0x0ae0}, kM4Other, 14, 14, kNone, kNone},
    {"vadd.f32 s0, s1, s2", {0xee30, 0x0a81}, kM4Other, 1, 1, kNone, kNone},
    {"vfma.f32 s0, s1, s2", {0xeea0, 0x0a81}, kM4Other, 3, 3, kNone, kNone},
    {"pld [r1]", {0xf891, 0xf000}, kM4Other, 1, 1, kNone, kNone},
    {"mvn.w r9, r8", {0xea6f, 0x0908}, kM4Data, 1, 1, reg(9), kNone},
    {"ubfx r9, r8, #1, #3", {0xf3c8, 0x0942}, kM4Data, 1, 1, reg(9), kNone},
};

M4Instruction decode(const std::vector<std::uint16_t>& code) {
  return m4_decode(code.data(), 2 * code.size());
}

TEST(M4Timing, DecodesInstructions) {
  for (const Case& c : kCases) {
    const M4Instruction found = decode(c.code);
    EXPECT_EQ(m4_size(c.code[0]), 2 * c.code.size()) << c.text;
    EXPECT_EQ(found.kind, c.kind) << c.text;
    EXPECT_EQ(found.min_cycles, c.min_cycles) << c.text;
    EXPECT_EQ(found.max_cycles, c.max_cycles) << c.text;
    EXPECT_EQ(found.writes, c.writes) << c.text;
    EXPECT_EQ(found.address, c.address) << c.text;
    EXPECT_EQ(found.bytes, 2 * c.code.size()) << c.text;
  }
}

/// The least and the most cycles of instructions, each right after the one before it.
std::pair<int, int> cycles(const std::vector<std::vector<std::uint16_t>>& codes,
                           bool with_a_branch_before_the_last = false) {
  M4Timing timing = {};
  std::uint32_t address = 0x100;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (with_a_branch_before_the_last && i + 1 == codes.size()) {
      address += 0x40;
    }
    const M4Instruction instruction = decode(codes[i]);
    m4_execute(&timing, &instruction, address);
    address += instruction.bytes;
  }
  return {static_cast<int>(timing.min_cycles), static_cast<int>(timing.max_cycles)};
}

using Pair = std::pair<int, int>;

const std::vector<std::uint16_t> kLoad = {0xf8d8, 0x9064};       // ldr.w r9, [r8, #100]
const std::vector<std::uint16_t> kOther = {0x9d01};              // ldr r5, [sp, #4]
const std::vector<std::uint16_t> kDependent = {0xf8d9, 0x1000};  // ldr.w r1, [r9]
const std::vector<std::uint16_t> kUpdating = {0xf858, 0x9b04};   // ldr r9, [r8], #4
const std::vector<std::uint16_t> kStore = {0xf828, 0x9c01};      // strh.w r9, [r8, #-1]
const std::vector<std::uint16_t> kOffset = {0xf848, 0x9021};     // str.w r9, [r8, r1, lsl #2]
const std::vector<std::uint16_t> kAdd = {0xeb08, 0x0901};        // add.w r9, r8, r1
const std::vector<std::uint16_t> kBranch = {0xe7f7};

TEST(M4Timing, LoadsArePipelined) {
  EXPECT_EQ(cycles({kLoad, kOther}), Pair(3, 3));
  EXPECT_EQ(cycles({kLoad, kOther, kLoad}), Pair(4, 4));
  EXPECT_EQ(cycles({kLoad, kOffset}), Pair(3, 3));
}

TEST(M4Timing, NotIfAnAddressNeedsWhatWasLoaded) {
  EXPECT_EQ(cycles({kLoad, kDependent}), Pair(4, 4));
}

TEST(M4Timing, PerhapsIfAnAddressNeedsAnUpdatedBase) {
  EXPECT_EQ(cycles({kUpdating, kLoad}), Pair(3, 4));
}

TEST(M4Timing, NothingIsPipelinedAfterAStore) {
  EXPECT_EQ(cycles({kLoad, kStore, kOther}), Pair(5, 5));
  EXPECT_EQ(cycles({kLoad, kOffset, kOther}), Pair(5, 5));
}

TEST(M4Timing, AnAddressWaitsForAResult) {
  EXPECT_EQ(cycles({kAdd, kDependent}), Pair(4, 4));
  EXPECT_EQ(cycles({kAdd, kLoad}), Pair(3, 3));
  EXPECT_EQ(cycles({kAdd, kBranch, kDependent}), Pair(4, 4));
}

TEST(M4Timing, ATakenBranchRefillsThePipeline) {
  EXPECT_EQ(cycles({kBranch, kAdd}), Pair(2, 2));
  EXPECT_EQ(cycles({kBranch, kAdd}, /*with_a_branch_before_the_last=*/true), Pair(3, 5));
  EXPECT_EQ(cycles({kLoad, kOther}, /*with_a_branch_before_the_last=*/true), Pair(5, 7));
}

TEST(M4Timing, UnalignedLoadsTakeLonger) {
  const struct {
    std::vector<std::uint16_t> code;
    std::uint32_t address;
    int extra;
  } cases[] = {
      {kLoad, 0x20000000, 0},    {kLoad, 0x20000002, 1},    {kLoad, 0x20000001, 2},
      {kLoad, 0x20000003, 2},    {{0x8875}, 0x20000001, 1}, {{0x8875}, 0x20000002, 0},
      {{0x56d1}, 0x20000001, 0}, {kStore, 0x20000001, 0},
  };
  for (const auto& c : cases) {
    M4Timing timing = {};
    const M4Instruction instruction = decode(c.code);
    m4_load_from(&timing, &instruction, c.address);
    EXPECT_EQ(timing.min_cycles, c.extra) << c.address;
    EXPECT_EQ(timing.max_cycles, c.extra) << c.address;
  }
}

}  // namespace
