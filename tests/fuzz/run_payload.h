// Runs a payload as an image would, through the backend, with memory that ends where the payload
// says: for sanitizers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate {
namespace fuzz {

enum class Outcome : std::uint8_t {
  kRefused,   // by init()
  kTooLarge,  // valid, but not run: more memory or work than a test has time for
  kFailed,    // a kernel returned an error
  kRan,
};
inline constexpr unsigned kOutcomeCount = 4;

/// What the two runs of run_payload() start from.
enum class Fillings : std::uint8_t {
  kEqual,      // for any payload: one that reads what it never wrote must still repeat itself
  kDifferent,  // for a compiled one: nothing may depend on what memory held
};

/// Loads a copy of the payload of `size` bytes at `data`, any bytes, and executes what init() accepts,
/// twice. The payload, the arena and every input and output are allocations of their own of exactly
/// their sizes.
///
/// Ends the process with a message, as a sanitizer does, if an output differs between the runs, or the
/// payload or an input was written to.
Outcome run_payload(const std::uint8_t* data, std::size_t size, const KernelTable& kernels,
                    Fillings fillings = Fillings::kEqual);

/// Of this process; printed as one line by print_totals().
struct Totals {
  std::uint64_t outcomes[kOutcomeCount] = {};
  /// Calls of payloads that ran, by opcode.
  std::uint64_t calls[payload::kOpcodeCount] = {};
};
Totals& totals();
void print_totals(const char* kernels_name);

}  // namespace fuzz
}  // namespace cmsis_nn_delegate
