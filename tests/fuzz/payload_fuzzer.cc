// The libFuzzer target: init() refuses any bytes that would not run within their memory.
#include <cstdlib>
#include <cstring>

#include "runtime/payload/view.h"
#include "tests/fuzz/kernels.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/run_payload.h"

namespace {

using namespace cmsis_nn_delegate;

alignas(16) std::uint8_t buffer[fuzz::kMaxPayloadBytes];
alignas(16) std::uint8_t donor_buffer[fuzz::kMaxPayloadBytes];

std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

bool is_accepted(const std::uint8_t* data, std::size_t size) {
  return PayloadView::open(data, size, fuzz::tested_kernels()).ok();
}

/// The last payload that ran. The corpus fills with payloads that are refused in different ways, whose mutations
/// would be refused as well: instead of most of them, the fuzzer changes this payload.
alignas(16) std::uint8_t last_ran[fuzz::kMaxPayloadBytes];
std::size_t last_ran_size = 0;

constexpr int kAttempts = 4;

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t capacity);

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  std::atexit([] { fuzz::print_totals(fuzz::tested_kernels()); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (fuzz::run_payload(data, size, fuzz::tested_kernels()) == fuzz::Outcome::kRan &&
      size <= sizeof(last_ran)) {
    std::memcpy(last_ran, data, size);
    last_ran_size = size;
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t capacity, unsigned seed) {
  capacity = smaller(capacity, sizeof(buffer));
  size = smaller(size, capacity);
  fuzz::Random random(seed);
  if (random.one_in(32)) {  // sometimes arbitrary bytes
    size = LLVMFuzzerMutate(data, size, capacity);
    if (size >= sizeof(payload::Header) && !random.one_in(4)) {
      std::memcpy(buffer, data, size);
      fuzz::repair(buffer, size, fuzz::tested_kernels());
      std::memcpy(data, buffer, size);
    }
    return size;
  }
  alignas(16) static std::uint8_t base[sizeof(buffer)];
  std::memcpy(base, data, size);
  if (last_ran_size != 0 && last_ran_size <= capacity && !random.one_in(8) &&
      !is_accepted(base, size)) {
    size = last_ran_size;
    std::memcpy(base, last_ran, size);
  }
  // Refused payloads are worth changing too, but not most of the time.
  std::size_t changed = 0;
  for (int attempt = random.one_in(4) ? kAttempts : 0; attempt <= kAttempts; ++attempt) {
    std::memcpy(buffer, base, size);
    changed = fuzz::mutate(buffer, size, capacity, random.next(), fuzz::tested_kernels());
    if (is_accepted(buffer, changed)) {
      break;
    }
  }
  std::memcpy(data, buffer, changed);
  return changed;
}

/// Copies a call of the second payload into the first.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t size1,
                                                 const std::uint8_t* data2, std::size_t size2,
                                                 std::uint8_t* out, std::size_t capacity,
                                                 unsigned seed) {
  capacity = smaller(capacity, sizeof(buffer));
  if (size1 > capacity || size2 > sizeof(donor_buffer)) {
    return 0;
  }
  std::memcpy(buffer, data1, size1);
  std::memcpy(donor_buffer, data2, size2);
  const std::size_t size =
      fuzz::mutate(buffer, size1, capacity, seed, fuzz::tested_kernels(), donor_buffer, size2);
  std::memcpy(out, buffer, size);
  return size;
}
