// Kernel of an operator with two outputs and a state.
#pragma once

#include "runtime/payload/kernel.h"
#include "tests/extension/running_peak_args.h"

namespace cmsis_nn_delegate {
namespace extension {

extern const KernelOf<payload::Opcode::kMul> kRunningPeak;

}  // namespace extension

// Where the compiler believes it to be.
namespace portable {

executorch::runtime::Error running_peak(const payload::RunningPeakArgs& args, const Bases& bases);

}  // namespace portable
}  // namespace cmsis_nn_delegate
