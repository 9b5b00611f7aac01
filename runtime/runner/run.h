// Code shared by the standalone runner and the runner with ExecuTorch's executor.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/memory_allocator.h>

#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/runner/job.h"

namespace cmsis_nn_delegate::runner {

/// Prints ##ERROR and ends the run with exit code 1.
[[noreturn]] void fail(executorch::runtime::Error error, const char* what);

/// Which runs the job asks for.
struct Delegate {
  const KernelTable& kernels;
  Config config;
};

/// Prints ##RUN, then fails unless `job` can be used and holds what the executor runs: a .pte if
/// `program` is true, else a payload.
Delegate start(const Job& job, const char* executor, bool program);

/// Returns `bytes` from `allocator`, aligned to 16, or fails with `what`.
void* take(executorch::runtime::MemoryAllocator& allocator, std::size_t bytes, const char* what);

/// Returns a pool over [begin, end).
inline executorch::runtime::MemoryAllocator pool(std::uint8_t* begin, std::uint8_t* end) {
  return executorch::runtime::MemoryAllocator(static_cast<std::uint32_t>(end - begin), begin);
}

/// Returns how many bytes an input of `bytes` takes up in a job.
constexpr std::uint32_t padded(std::uint32_t bytes) {
  return (bytes + kJobAlignment - 1) / kJobAlignment * kJobAlignment;
}

/// Prints ##OUT.
void print_output(std::uint32_t set, std::size_t index, const void* data, std::uint32_t nbytes,
                  bool with_data);

}  // namespace cmsis_nn_delegate::runner
