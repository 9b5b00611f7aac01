// The kernels that a fuzzer tests.
#pragma once

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate {
namespace fuzz {

const KernelTable& tested_kernels();

}  // namespace fuzz
}  // namespace cmsis_nn_delegate
