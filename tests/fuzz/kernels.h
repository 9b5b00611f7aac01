// The kernels that a fuzzer tests.
#pragma once

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::fuzz {

const KernelTable& tested_kernels();

}  // namespace cmsis_nn_delegate::fuzz
