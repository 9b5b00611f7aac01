// Validates the calls of a payload once, so that execution needs no checks.
#pragma once

#include <executorch/runtime/core/error.h>

#include "runtime/payload/kernel.h"
#include "runtime/payload/view.h"

namespace cmsis_nn_delegate {

/// Checks that the calls of `view` fill their section exactly and that each one
///   - has an opcode with a kernel in `kernels`, and the argument size of that opcode;
///   - only names data that exists: base, offset and the bytes that its dimensions imply;
///   - writes to the arena or an output, never to constants or an input;
///   - has its weights and their parameters in the constants, and after them as many bytes as
///     the kernel loads past their end (Kernel::reading_past);
///   - has data aligned as its type needs, and scratch memory aligned to 16 bytes;
///   - has at least as much scratch memory as its kernel uses (Kernel::scratch_bytes);
///   - overwrites nothing that it still reads: its output lies apart from its inputs, or exactly over
///     one of them if the kernel allows that (Kernel::in_place), or at a distance before its input at
///     which the kernel no longer reads what it overwrites (Kernel::overlapping); its scratch memory
///     lies apart from both;
///   - keeps the ranges that runtime/payload/format.h states for its parameters;
///   - if it is a convolution or pooling, has dimensions in [1, kMaxDim] that agree with each
///     other, and an output that leaves out no window that fits. Pooling windows must overlap
///     the input. Kernels rely on this; see geometry.h;
///   - is supported by its kernel (Kernel::accepts).
/// Each multiplier and shift among the constants is checked; weights and biases are not, because
/// none of their values makes a kernel leave its buffers.
///
/// The header and the tensors must have been checked before. Returns Ok, InvalidProgram, or
/// DelegateInvalidCompatibility for a known opcode without a kernel; every error logs one line.
[[nodiscard]] executorch::runtime::Error validate_calls(const PayloadView& view,
                                                        const KernelTable& kernels);

}  // namespace cmsis_nn_delegate
