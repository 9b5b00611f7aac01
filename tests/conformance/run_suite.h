// Runs the cases of a suite (suite.py) with one provider's kernels and checks outputs, guards and scratch sizes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/payload/format.h"
#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::conformance {

/// Called with a problem of a case: `what`, and two numbers that it names (0 if unused).
using Report = void (*)(std::uint32_t index, const char* what, std::int64_t a, std::int64_t b);

struct Totals {
  std::uint32_t cases = 0;
  std::uint32_t failed = 0;
  std::uint32_t scratch_checked = 0;  // calls whose scratch size was compared
  std::uint32_t narrow = 0;           // cases that ran again with a kernel for some calls alone
};

/// Kernels that compute some calls of an operator alone, in the place of the one that computes all.
struct NarrowKernels {
  const KernelRef* kernels = nullptr;
  std::size_t count = 0;
};

/// Runs every case, and again with each of the `narrow` kernels that computes all of its calls: outputs equal the expected bytes, no byte around the arena, the outputs and other
/// memories changes, no copied constant does, and every call has exactly the scratch that its kernel
/// asks for, if it asks for any.
///
/// `suite` is 16-byte aligned; `memory` is for all of these. Returns false, with a report about
/// case 0, if the blob is not a suite.
bool run_suite(const std::uint8_t* suite, std::size_t suite_bytes, std::uint8_t* memory,
               std::size_t memory_bytes, const KernelTable& kernels, NarrowKernels narrow,
               Report report, Totals& totals);

}  // namespace cmsis_nn_delegate::conformance
