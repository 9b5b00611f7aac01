// Kernel of an operator with two outputs and a state.
#pragma once

#include "runtime/payload/kernel.h"
#include "tests/extension/running_peak_args.h"

namespace cmsis_nn_delegate {
namespace extension {

extern const KernelOf<payload::Opcode::kMul> kRunningPeak;
executorch::runtime::Error run_running_peak(const void* args, const Bases& bases);

}  // namespace extension

// Where the compiler believes it to be.
namespace portable {

inline executorch::runtime::Error running_peak(const payload::RunningPeakArgs& args,
                                               const Bases& bases) {
  return extension::run_running_peak(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
