// Kernel of an operator with two outputs and a state.
#pragma once

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate {
namespace extension {

extern const KernelOf<payload::Opcode::kMul> kRunningPeak;

}  // namespace extension
}  // namespace cmsis_nn_delegate
