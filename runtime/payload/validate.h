// Validation of the calls of a payload, once, so that execution needs no checks.
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
///   - has data aligned as its type needs, and scratch aligned to 16 bytes;
///   - has at least as much scratch as its kernel says that it uses (Kernel::scratch_bytes);
///   - writes nothing that it reads: its output lies apart from its inputs, or exactly over one if
///     the kernel takes that (Kernel::in_place), and its scratch memory apart from both;
///   - keeps the ranges that runtime/payload/format.h states for its parameters;
///   - as a convolution or pooling: has dimensions in [1, kMaxDim] that agree with each
///     other, and an output that leaves out no window that fits. Windows of pooling must overlap
///     the input. Kernels rely on it, see geometry.h;
///   - is one that its kernel computes (Kernel::accepts).
/// Multipliers and shifts of constants are looked at one by one; weights and biases are not: no
/// value of them makes a kernel leave its buffers.
///
/// The header and the tensors must have been checked. Returns Ok, InvalidProgram, or
/// DelegateInvalidCompatibility for a known opcode without a kernel; one log line on error.
[[nodiscard]] executorch::runtime::Error validate_calls(const PayloadView& view,
                                                        const KernelTable& kernels);

}  // namespace cmsis_nn_delegate
