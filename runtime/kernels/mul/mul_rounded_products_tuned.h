// The inner loops of elementwise products that an image has.
#pragma once

#include "runtime/kernels/mul/mul_rounded_dsp.h"
#include "runtime/kernels/mul/mul_rounded_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"

namespace cmsis_nn_delegate::tuned {

using RoundedProducts = DspOr<DspProducts, MveOr<MveProducts, portable::PlainProducts>>;

}  // namespace cmsis_nn_delegate::tuned
