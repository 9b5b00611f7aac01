// Sequences of fetches and loads, with the waits that the model states for them.
#include "sim/qemu/m4_flash.h"

#include <cstdint>
#include <utility>

#include "gtest/gtest.h"

namespace {

using Waits = std::pair<std::uint64_t, std::uint64_t>;

constexpr unsigned kWait = M4_FLASH_WAIT_STATES;
constexpr std::uint32_t kRam = 0x20000000;

// With flash from 0 to 1 MiB.
class M4FlashTest : public ::testing::Test {
 protected:
  M4FlashTest() {
    flash_.ranges[0] = {0, 1u << 20};
    flash_.range_count = 1;
  }

  // Returns the waits of a fetch of 4 bytes.
  Waits fetch(std::uint32_t address, unsigned bytes = 4) {
    const Waits before = waits();
    m4_flash_fetch(&flash_, address, bytes);
    return since(before);
  }

  Waits load(std::uint32_t address) {
    const Waits before = waits();
    m4_flash_load(&flash_, address);
    return since(before);
  }

  M4Flash flash_ = {};

 private:
  Waits waits() const { return {flash_.min_waits, flash_.max_waits}; }
  Waits since(Waits before) const {
    return {flash_.min_waits - before.first, flash_.max_waits - before.second};
  }
};

TEST_F(M4FlashTest, InstructionsInSequenceWaitOnlyAtMost) {
  EXPECT_EQ(fetch(0), Waits(kWait, kWait));
  for (std::uint32_t address = 4; address < 2048; address += 4) {
    EXPECT_EQ(fetch(address), Waits(0, address % 8 == 0 ? kWait : 0)) << address;
  }
}

TEST_F(M4FlashTest, ALoopThatFitsWaitsOnce) {
  const std::uint32_t bytes = M4_FLASH_INSTRUCTION_LINES * M4_FLASH_LINE_BYTES;
  for (std::uint32_t address = 0; address < bytes; address += 4) {
    fetch(address);
  }
  for (std::uint32_t address = 0; address < bytes; address += 4) {
    EXPECT_EQ(fetch(address), Waits(0, 0)) << address;
  }
}

TEST_F(M4FlashTest, ALoopOfOneLineMoreHoldsNothing) {
  const std::uint32_t bytes = (M4_FLASH_INSTRUCTION_LINES + 1) * M4_FLASH_LINE_BYTES;
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(fetch(0), Waits(kWait, kWait));
    for (std::uint32_t address = 4; address < bytes; address += 4) {
      EXPECT_EQ(fetch(address), Waits(0, address % 8 == 0 ? kWait : 0)) << address;
    }
  }
}

TEST_F(M4FlashTest, AJumpIntoAHeldLineWaitsOnlyAtMost) {
  EXPECT_EQ(fetch(64), Waits(kWait, kWait));
  EXPECT_EQ(fetch(80), Waits(0, kWait));
  EXPECT_EQ(fetch(64), Waits(0, 0));
}

TEST_F(M4FlashTest, AnInstructionMayLieAcrossTwoReads) {
  EXPECT_EQ(fetch(6, 2), Waits(kWait, kWait));
  EXPECT_EQ(fetch(6, 4), Waits(0, kWait));
  EXPECT_EQ(fetch(30, 4),
            Waits(0, 2 * kWait));  // the line of the first read is held, the next follows it
}

TEST_F(M4FlashTest, LoadsInSequenceWaitForEachLineAtLeast) {
  for (std::uint32_t address = 0; address < 2048; address += 4) {
    EXPECT_EQ(load(address), Waits(address % 32 == 0 ? kWait : 0, address % 8 == 0 ? kWait : 0))
        << address;
  }
}

TEST_F(M4FlashTest, TheLeastRecentlyUsedLineIsReplaced) {
  for (std::uint32_t line = 0; line < M4_FLASH_DATA_LINES; ++line) {
    load(line * M4_FLASH_LINE_BYTES);
  }
  EXPECT_EQ(load(0), Waits(0, 0));
  EXPECT_EQ(load(M4_FLASH_DATA_LINES * M4_FLASH_LINE_BYTES), Waits(kWait, kWait));
  EXPECT_EQ(load(0), Waits(0, 0));
  EXPECT_EQ(load(M4_FLASH_LINE_BYTES), Waits(kWait, kWait));
}

TEST_F(M4FlashTest, InstructionsAndDataHaveCachesOfTheirOwn) {
  fetch(0);
  EXPECT_EQ(load(0), Waits(kWait, kWait));
  EXPECT_EQ(fetch(4), Waits(0, 0));
}

TEST_F(M4FlashTest, OtherMemoryNeverWaits) {
  EXPECT_EQ(fetch(kRam), Waits(0, 0));
  EXPECT_EQ(load(kRam), Waits(0, 0));
  EXPECT_EQ(load((1u << 20) - 4), Waits(kWait, kWait));
  EXPECT_EQ(load(1u << 20), Waits(0, 0));
}

}  // namespace
