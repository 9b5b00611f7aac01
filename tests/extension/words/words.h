// Kernels of the provider `words`.
#pragma once

#include <cstdint>

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::words {

/// That of `Words` in provider.py.
inline constexpr std::uint32_t kRevision = 7;

/// int8 maximum of two tensors of one shape, whose number of elements is a multiple of 4. The output may be an input.
extern const KernelOf<payload::Opcode::kMaximum> kMaximum;
executorch::runtime::Error run_maximum(const void* args, const Bases& bases);
inline executorch::runtime::Error maximum(const payload::MaximumArgs& args, const Bases& bases) {
  return run_maximum(&args, bases);
}

}  // namespace cmsis_nn_delegate::words
