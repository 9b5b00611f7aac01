// Runs a payload through the backend, as an image would, in memory of exactly the sizes that the payload states, for
// sanitizers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::fuzz {

enum class Outcome : std::uint8_t {
  kRefused,   // by init()
  kTooLarge,  // valid, but not run: more memory or work than a test has time for
  kFailed,    // a kernel returned an error
  kRan,
};
inline constexpr unsigned kOutcomeCount = 4;

/// The contents of memory at the start of the two runs of run_payload().
enum class Fillings : std::uint8_t {
  kEqual,  // for any payload: even if it reads memory that it never wrote, both runs must be equal
  kDifferent,  // for a compiled payload: nothing may depend on the initial contents of memory
};

/// Loads a copy of the payload of `size` arbitrary bytes at `data`, and executes it twice if init() accepts it. The
/// payload, the arena, every region beside it and every input and output are separate allocations of exactly their sizes.
///
/// Ends the process with a message, as a sanitizer does, if an output differs between the runs, or the
/// payload or an input was written to.
Outcome run_payload(const std::uint8_t* data, std::size_t size, const KernelTable& kernels,
                    Fillings fillings = Fillings::kEqual);

/// Totals of this process; print_totals() prints them as one line, with the calls of the operators that `kernels` have.
struct Totals {
  std::uint64_t outcomes[kOutcomeCount] = {};
  /// Calls of payloads that ran, by opcode.
  std::uint64_t calls[payload::kOpcodeCount] = {};
};
Totals& totals();
void print_totals(const KernelTable& kernels);

}  // namespace cmsis_nn_delegate::fuzz
