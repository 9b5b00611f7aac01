#include "tests/fuzz/run_payload.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <executorch/runtime/core/memory_allocator.h>

#include "runtime/backend/cmsis_nn_backend.h"
#include "tests/fuzz/accepted.h"
#include "tests/fuzz/fill_tensor.h"
#include "tests/fuzz/random.h"
#include "tests/payloads/payload_builder.h"

namespace cmsis_nn_delegate::fuzz {
namespace {

using executorch::runtime::BackendInitContext;
using executorch::runtime::Error;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::MemoryAllocator;
using testing::AlignedBytes;

// Limits for arbitrary payloads; compiled ones may take longer.
constexpr std::uint64_t kMaxMemory = 1 << 17;  // of the arena, regions, inputs and outputs
constexpr std::uint64_t kMaxWork = 1 << 16;    // of all calls, see operands.h

[[noreturn]] void fail(const char* what, unsigned index) {
  std::fprintf(stderr, "FINDING: %s %u\n", what, index);
  std::abort();
}

void fill_bytes(AlignedBytes& bytes, std::uint32_t seed) {
  Random(seed).fill(bytes.data(), bytes.size());
}

/// Allocates exactly the requested bytes for the handle and the state after it, so that the address sanitizer finds
/// every access beyond them.
class HandleAllocator final : public MemoryAllocator {
 public:
  HandleAllocator() : MemoryAllocator(0, nullptr) {}

  void* allocate(std::size_t size, std::size_t /*alignment*/) override {
    if (size > kMaxMemory) {
      return nullptr;
    }
    memory_ = AlignedBytes(size);
    return memory_.data();
  }

 private:
  AlignedBytes memory_{0};
};

/// The regions beside the arena that a payload states, which is not validated yet: each of exactly its size. There are
/// none if they are larger than a test has memory for.
class RegionMemory {
 public:
  RegionMemory(const std::uint8_t* data, std::size_t size) {
    if (size < sizeof(payload::Header)) {
      return;
    }
    const PayloadView view(*reinterpret_cast<const payload::Header*>(data));
    const std::uint64_t begin =
        view.header().header_bytes + sizeof(payload::IoTensor) * view.tensor_count();
    const std::uint32_t count = view.header().region_count;
    if (begin % sizeof(std::uint32_t) != 0 || begin + sizeof(std::uint32_t) * count > size) {
      return;
    }
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      sum += view.region_bytes()[i];
    }
    for (std::uint32_t i = 0; sum <= kMaxMemory && i < count; ++i) {
      memory_.emplace_back(view.region_bytes()[i]);
      regions_.push_back({memory_.back().data(), memory_.back().size()});
    }
  }

  const MemoryRegion* regions() const { return regions_.data(); }
  std::size_t count() const { return regions_.size(); }

  void fill(std::uint32_t seed) {
    for (AlignedBytes& memory : memory_) {
      fill_bytes(memory, seed++);
    }
  }

 private:
  std::vector<AlignedBytes> memory_;
  std::vector<MemoryRegion> regions_;
};

/// The memory of one execution.
struct Buffers {
  AlignedBytes arena;
  std::vector<AlignedBytes> tensors;

  Buffers(const Accepted& payload, std::uint32_t seed, std::uint32_t filling, bool wild)
      : arena(payload.header().arena_bytes) {
    fill_bytes(arena, seed ^ filling);
    for (unsigned i = 0; i < payload.tensor_count(); ++i) {
      tensors.emplace_back(payload.tensor(i).nbytes);
      fill_tensor(payload, i, payload.is_input(i) ? seed + i : (seed + i) ^ filling, wild,
                  tensors.back().data());
    }
  }
};

Error execute(const CmsisNnBackend& backend, executorch::runtime::DelegateHandle* handle,
              const Accepted& payload, Buffers& buffers) {
  std::uint8_t* data[payload::kMaxIo];
  for (unsigned i = 0; i < payload.tensor_count(); ++i) {
    data[i] = buffers.tensors[i].data();
  }
  return payload.execute(backend, handle, buffers.arena.data(), data);
}

}  // namespace

Totals& totals() {
  static Totals totals;
  return totals;
}

Outcome run_payload(const std::uint8_t* data, std::size_t size, const KernelTable& kernels,
                    Fillings fillings) {
  const auto count = [](Outcome outcome) {
    ++totals().outcomes[static_cast<unsigned>(outcome)];
    return outcome;
  };
  AlignedBytes bytes(size);
  if (size != 0) {
    std::memcpy(bytes.data(), data, size);
  }
  RegionMemory regions(bytes.data(), bytes.size());
  Config config;
  config.verify_crc = true;
  config.regions = regions.regions();
  config.region_count = regions.count();
  const CmsisNnBackend backend(kernels, config);
  HandleAllocator handle_allocator;
  BackendInitContext context(&handle_allocator, nullptr, "forward");
  FreeableBuffer processed(bytes.data(), bytes.size(), nullptr);
  const auto handle = backend.init(context, &processed, {});
  if (!handle.ok()) {
    return count(Outcome::kRefused);
  }
  const Accepted accepted(bytes.data());
  const std::uint64_t times = fillings == Fillings::kDifferent ? 64 : 1;
  if (accepted.memory() > kMaxMemory * times || accepted.work() > kMaxWork * times) {
    backend.destroy(*handle);
    return count(Outcome::kTooLarge);
  }

  const std::uint32_t seed = accepted.header().crc32;
  const bool wild = fillings == Fillings::kEqual;  // compiled payloads have to run to their end
  Buffers first(accepted, seed, 0, wild);
  const std::uint32_t filling = wild ? 0 : 0x5A5A5A5A;
  Buffers second(accepted, seed, filling, wild);
  regions.fill(seed);
  const Error error = execute(backend, *handle, accepted, first);
  static_cast<void>(backend.reset(*handle));
  regions.fill(seed ^ filling);
  if (error != execute(backend, *handle, accepted, second)) {
    fail("the two executions ended differently", 0);
  }
  backend.destroy(*handle);
  if (std::memcmp(bytes.data(), data, size) != 0) {
    fail("the payload was written to", 0);
  }
  for (unsigned i = 0; i < accepted.tensor_count(); ++i) {
    AlignedBytes& tensor = first.tensors[i];
    if (accepted.is_input(i)) {
      AlignedBytes original(tensor.size());
      fill_tensor(accepted, i, seed + i, wild, original.data());
      if (std::memcmp(tensor.data(), original.data(), tensor.size()) != 0) {
        fail("an input was written to: tensor", i);
      }
    } else if (error == Error::Ok &&
               std::memcmp(tensor.data(), second.tensors[i].data(), tensor.size()) != 0) {
      fail("an output differs between two executions: tensor", i);
    }
  }
  if (error != Error::Ok) {
    return count(Outcome::kFailed);
  }
  for (const Call& call : accepted.calls()) {
    ++totals().calls[call.opcode];
  }
  return count(Outcome::kRan);
}

void print_totals(const KernelTable& kernels) {
  const Totals& t = totals();
  std::uint64_t all = 0;
  for (const std::uint64_t outcome : t.outcomes) {
    all += outcome;
  }
  std::fprintf(stderr,
               "##FUZZ kernels=%s payloads=%" PRIu64 " ran=%" PRIu64 " refused=%" PRIu64
               " too_large=%" PRIu64 " failed=%" PRIu64 " calls=",
               kernels.provider->name, all, t.outcomes[3], t.outcomes[0], t.outcomes[1],
               t.outcomes[2]);
  const char* separator = "";
  for (std::size_t opcode = 1; opcode < payload::kOpcodeCount; ++opcode) {
    if (kernels.find(opcode) != nullptr) {
      std::fprintf(stderr, "%s%" PRIu64, separator, t.calls[opcode]);
      separator = ",";
    }
  }
  std::fprintf(stderr, "\n");
}

}  // namespace cmsis_nn_delegate::fuzz
