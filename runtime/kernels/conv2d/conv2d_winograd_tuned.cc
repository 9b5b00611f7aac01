#include "runtime/kernels/conv2d/conv2d_winograd.h"

#include "runtime/kernels/conv2d/winograd_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_conv2d_winograd(const void* args, const Bases& bases) {
  return portable::compute_conv2d_winograd<DspOr<DspWinogradLanes, portable::PlainWinogradLanes>>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dWinograd> kConv2dWinograd =
    portable::conv2d_winograd_kernel(run_conv2d_winograd);

}  // namespace cmsis_nn_delegate::tuned
