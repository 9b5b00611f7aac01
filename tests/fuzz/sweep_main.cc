// Firmware that mutates payloads and runs those that init() accepts, with each buffer directly before inaccessible
// memory (guards.h). An access beyond a buffer ends the run in a fault.
//
// The mailbox contains a SweepJob, then the seeds of make_seeds.py. For every index, seed `index` modulo their number
// is mutated index % 3 + 1 times, with random numbers that the index determines; if init() refuses the result, it is
// mutated in up to kAttempts other ways. The same index always gives the same payloads.
#include <cstring>

#include "platforms/bsp/bsp.h"
#include "runtime/kernels/selected.h"
#include "runtime/runner/report.h"
#include "tests/fuzz/accepted.h"
#include "tests/fuzz/fill_tensor.h"
#include "tests/fuzz/guards.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/random.h"

namespace {

using namespace cmsis_nn_delegate;
using executorch::runtime::BackendInitContext;
using executorch::runtime::Error;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::MemoryAllocator;

/// Written by sweep_test.py.
struct SweepJob {
  std::uint32_t magic;
  std::uint32_t mode;
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t seeds_bytes;
  std::uint32_t reserved[3];
};
constexpr std::uint32_t kMagic = 0x46555A5A;
/// What the firmware does with every index.
enum Mode : std::uint32_t {
  kMutate = 0,         // mutated and run
  kAsTheyAre = 1,      // seeds run unchanged
  kShow = 2,           // mutated, printed, and run
  kReadBeyond = 3,     // no payload: reads the byte after slot `first`, as a faulty kernel would
  kWriteConstant = 4,  // writes to the payload's slot
};

constexpr unsigned kPayloadSlot = 0;
constexpr unsigned kArenaSlot = 1;
constexpr unsigned kTensorSlot = 2;
constexpr unsigned kTensorSlots = fuzz::kSlots - kTensorSlot;
constexpr std::uint32_t kProgress = 64;
constexpr std::uint32_t kAttempts = 4;
constexpr std::uint64_t kMaxWork = 1 << 16;

alignas(16) std::uint8_t work[fuzz::kMaxPayloadBytes];
alignas(16) std::uint8_t donor[fuzz::kMaxPayloadBytes];

/// Returns the payloads in the mailbox.
struct Seeds {
  static constexpr unsigned kMax = 1024;
  const std::uint8_t* seeds[kMax];
  unsigned count;

  void find(const std::uint8_t* at, std::uint32_t bytes) {
    for (const std::uint8_t* end = at + bytes; at < end && count < kMax;) {
      seeds[count++] = at;
      at += size(count - 1);
    }
  }
  std::size_t size(unsigned index) const {
    return reinterpret_cast<const payload::Header*>(seeds[index])->payload_bytes;
  }
};
Seeds seeds;

struct Totals {
  std::uint32_t payloads = 0, ran = 0, refused = 0, too_large = 0, failed = 0;
  std::uint32_t calls[payload::kOpcodeCount] = {};
};

std::size_t make_payload(std::uint32_t index, std::uint32_t attempt, std::uint32_t mode) {
  const unsigned seed = index % seeds.count;
  std::size_t size = seeds.size(seed);
  std::memcpy(work, seeds.seeds[seed], size);
  if (mode == kAsTheyAre) {
    return size;
  }
  for (std::uint32_t i = 0; i <= index % 3; ++i) {
    const std::uint32_t number = (index * kAttempts + attempt) * 4 + i;
    const unsigned other = number * 31 % seeds.count;
    const bool splice = number % 3 == 0;
    if (splice) {
      std::memcpy(donor, seeds.seeds[other], seeds.size(other));
    }
    size = fuzz::mutate(work, size, sizeof(work), number, selected_kernels(),
                        splice ? donor : nullptr, seeds.size(other));
  }
  return size;
}

/// The slot of a region beside the arena: the last ones, behind the tensors.
constexpr unsigned region_slot(unsigned index) { return fuzz::kSlots - 1 - index; }

bool fits(const fuzz::Accepted& payload) {
  if (payload.header().arena_bytes > fuzz::kSlotBytes ||
      payload.tensor_count() + payload.header().region_count > kTensorSlots ||
      payload.work() > kMaxWork) {
    return false;
  }
  for (unsigned i = 0; i < payload.header().region_count; ++i) {
    if (payload.region_bytes()[i] > fuzz::kSlotBytes) {
      return false;
    }
  }
  for (unsigned i = 0; i < payload.tensor_count(); ++i) {
    if (payload.tensor(i).nbytes > fuzz::kSlotBytes) {
      return false;
    }
  }
  return true;
}

/// Returns a configuration with the regions of `payload`, each at the end of its slot, in `regions`; without regions
/// if it is not valid, or too large.
Config configure(const std::uint8_t* payload, std::size_t size,
                 MemoryRegion (&regions)[kTensorSlots]) {
  Config config;
  if (size < sizeof(payload::Header) ||
      reinterpret_cast<const payload::Header*>(payload)->region_count == 0 ||
      !PayloadView::open(payload, size, selected_kernels()).ok()) {
    return config;
  }
  const fuzz::Accepted valid(payload);
  if (!fits(valid)) {
    return config;
  }
  for (unsigned i = 0; i < valid.header().region_count; ++i) {
    const std::uint32_t bytes = valid.region_bytes()[i];
    regions[i] = {fuzz::at_end(region_slot(i), bytes), bytes};
    fuzz::Random(valid.header().crc32 + i).fill(fuzz::at_end(region_slot(i), bytes), bytes);
  }
  config.regions = regions;
  config.region_count = valid.header().region_count;
  return config;
}

/// Returns whether init() has accepted it.
bool run(std::size_t size, std::uint32_t mode, Totals& totals) {
  ++totals.payloads;
  // Ends with the last byte before the gap, unless a damaged size makes that misaligned.
  std::uint8_t* const payload = fuzz::at_end(kPayloadSlot, (size + 15) / 16 * 16);
  std::memcpy(payload, work, size);
  MemoryRegion regions[kTensorSlots];
  const CmsisNnBackend backend(selected_kernels(), configure(payload, size, regions));
  // With the most persistent memory and copied constants that mutate() makes.
  alignas(16) static std::uint8_t handle_memory[payload::kStateOffset + 2 * 0xFF0];
  MemoryAllocator handle_allocator(sizeof(handle_memory), handle_memory);
  BackendInitContext context(&handle_allocator, nullptr, "forward");
  FreeableBuffer processed(payload, size, nullptr);
  constexpr std::uint32_t kPayloadReadOnly = 1u << kPayloadSlot;
  fuzz::guard(kPayloadReadOnly);
  const auto handle = backend.init(context, &processed, {});
  fuzz::unguard();
  if (!handle.ok()) {
    ++totals.refused;
    return false;
  }
  const fuzz::Accepted accepted(payload);
  if (!fits(accepted)) {
    ++totals.too_large;
    return true;
  }
  const std::uint32_t seed = accepted.header().crc32;
  std::uint8_t* const arena = fuzz::at_end(kArenaSlot, accepted.header().arena_bytes);
  fuzz::Random(seed).fill(arena, accepted.header().arena_bytes);
  std::uint32_t read_only = kPayloadReadOnly;
  std::uint8_t* tensors[kTensorSlots];
  for (unsigned i = 0; i < accepted.tensor_count(); ++i) {
    const std::uint32_t bytes = accepted.tensor(i).nbytes;
    tensors[i] = fuzz::at_end(kTensorSlot + i, bytes);
    fuzz::fill_tensor(accepted, i, seed + i, mode != kAsTheyAre, tensors[i]);
    read_only |= accepted.is_input(i) ? 1u << (kTensorSlot + i) : 0;
  }
  fuzz::guard(read_only);
  const Error error = accepted.execute(backend, *handle, arena, tensors);
  fuzz::unguard();
  backend.destroy(*handle);
  if (error != Error::Ok) {
    ++totals.failed;
    return true;
  }
  ++totals.ran;
  for (const Call& call : accepted.calls()) {
    ++totals.calls[call.opcode];
  }
  return true;
}

void print(const Totals& totals) {
  runner::Line line("SWEEP");
  line.field("kernels", selected_kernels().provider->name)
      .field("core", bsp_core)
      .field("payloads", totals.payloads)
      .field("ran", totals.ran)
      .field("refused", totals.refused)
      .field("too_large", totals.too_large)
      .field("failed", totals.failed);
  for (std::size_t opcode = 1; opcode < payload::kOpcodeCount; ++opcode) {
    line.field("calls", totals.calls[opcode]);
  }
}

/// Tests the guards: reads out of bounds like a faulty kernel.
[[noreturn]] void touch(const SweepJob& mailbox) {
  const SweepJob job = mailbox;  // the mailbox will be inaccessible too
  std::uint8_t* const end = fuzz::slot_end(job.first);
  fuzz::guard(1u << kPayloadSlot);
  if (job.mode == kWriteConstant) {
    *reinterpret_cast<volatile std::uint8_t*>(end - 1) = 1;
  } else {
    static_cast<void>(*reinterpret_cast<volatile std::uint8_t*>(end - 1));
    runner::Line("INSIDE").field("slot", job.first);
#ifdef __ARM_FEATURE_MVE
    // A vector of 16 bytes, `count` of which are past the end.
    std::uint32_t first = 0;
    __asm__ volatile("vldrb.u8 q0, [%1]\n\tvmov %0, s0"
                     : "=r"(first)
                     : "r"(end - 16 + job.count)
                     : "q0", "memory");
    runner::Line("BEYOND").field("first", first);
#else
    static_cast<void>(*reinterpret_cast<volatile std::uint32_t*>(end - 4 + job.count));
#endif
  }
  fuzz::unguard();
  bsp_exit(0);
}

}  // namespace

int main() {
  const auto& job = *reinterpret_cast<const SweepJob*>(__mailbox_start);
  if (job.magic != kMagic) {
    return 2;
  }
  if (job.mode >= kReadBeyond) {
    touch(job);
  }
  seeds.find(__mailbox_start + sizeof(job), job.seeds_bytes);
  Totals totals;
  for (std::uint32_t index = job.first; index != job.first + job.count; ++index) {
    if (index % kProgress == 0 || index == job.first) {
      runner::Line("AT").field("index", index);
    }
    bool accepted = false;
    for (std::uint32_t attempt = 0; attempt < kAttempts && !accepted; ++attempt) {
      const std::size_t size = make_payload(index, attempt, job.mode);
      if (job.mode == kShow) {
        runner::Line("PAYLOAD").field("index", index).data_field("data", work, size);
      }
      accepted = run(size, job.mode, totals);
    }
  }
  print(totals);
  return 0;
}
