#include "runtime/runner/job.h"

#include <cstring>
#include <functional>

#include <gtest/gtest.h>

namespace cmsis_nn_delegate::runner {
namespace {

constexpr std::size_t kMailboxBytes = 1024;

struct alignas(16) Mailbox {
  std::uint8_t bytes[kMailboxBytes] = {};

  JobHeader& header() { return *reinterpret_cast<JobHeader*>(bytes); }
};

/// A payload of 100 bytes, and 3 sets of 64 bytes that end with the mailbox.
Mailbox valid() {
  Mailbox mailbox;
  JobHeader& header = mailbox.header();
  header.magic = kJobMagic;
  header.version = kJobVersion;
  header.flags = kJobVerifyCrc | kJobPrintOutputs;
  header.payload_offset = 64;
  header.payload_bytes = 100;
  header.inputs_offset = kMailboxBytes - 3 * 64;
  header.set_count = 3;
  header.set_bytes = 64;
  header.state_offset = 176;
  header.state_bytes = 48;
  return mailbox;
}

TEST(Job, Valid) {
  const Mailbox mailbox = valid();
  const Job job(mailbox.bytes, kMailboxBytes);
  ASSERT_EQ(job.error(), nullptr);
  EXPECT_EQ(job.payload(), mailbox.bytes + 64);
  EXPECT_EQ(job.payload_bytes(), 100u);
  EXPECT_EQ(job.set(2) + job.set_bytes(), mailbox.bytes + kMailboxBytes);
  EXPECT_EQ(job.state(), mailbox.bytes + 176);
  EXPECT_EQ(job.state_bytes(), 48u);
  EXPECT_TRUE(job.has(kJobVerifyCrc));
  EXPECT_FALSE(job.has(kJobNullKernels));
  EXPECT_TRUE(job.has(kJobPrintOutputs));
}

TEST(Job, NothingInTheMailbox) {
  const Mailbox empty;
  EXPECT_NE(Job(empty.bytes, kMailboxBytes).error(), nullptr);
  const Mailbox mailbox = valid();
  EXPECT_NE(Job(mailbox.bytes, sizeof(JobHeader) - 1).error(), nullptr);
}

TEST(Job, Malformed) {
  const std::function<void(JobHeader&)> changes[] = {
      [](JobHeader& h) { h.version += 1; },
      [](JobHeader& h) { h.payload_offset += 4; },
      [](JobHeader& h) { h.payload_offset = 0xFFFFFFF0; },
      [](JobHeader& h) { h.payload_bytes = kMailboxBytes - 63; },
      [](JobHeader& h) { h.payload_bytes = 0xFFFFFFFF; },
      [](JobHeader& h) { h.inputs_offset += 16; },
      [](JobHeader& h) { h.inputs_offset = kMailboxBytes + 16; },
      [](JobHeader& h) { h.set_count = 4; },
      [](JobHeader& h) {
        h.set_count = 0x10000000;
        h.set_bytes = 0x10;
      },
      [](JobHeader& h) { h.set_bytes = 60; },
      [](JobHeader& h) { h.state_offset = kMailboxBytes + 1; },
      [](JobHeader& h) {
        h.state_offset = kMailboxBytes - 16;
        h.state_bytes = 17;
      },
  };
  for (const auto& change : changes) {
    Mailbox mailbox = valid();
    change(mailbox.header());
    EXPECT_NE(Job(mailbox.bytes, kMailboxBytes).error(), nullptr);
  }
}

}  // namespace
}  // namespace cmsis_nn_delegate::runner
