#include "runtime/kernels/depthwise_conv2d/depthwise_conv2d_cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/cmsis_nn.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

bool accepts(const void* args) {
  return depthwise::fits(*static_cast<const payload::DepthwiseConv2dArgs*>(args));
}

}  // namespace

Error run_depthwise_conv2d(const void* args, const Bases& bases) {
  return depthwise::run<arm_depthwise_conv_wrapper_s8>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2d> kDepthwiseConv2d =
    depthwise::kernel(run_depthwise_conv2d, accepts);

}  // namespace cmsis_nn_delegate::cmsis_nn
