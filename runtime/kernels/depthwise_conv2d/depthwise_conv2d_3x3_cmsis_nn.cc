#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/depthwise_conv2d/depthwise_conv2d_cmsis_nn.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

bool accepts(const void* args) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dArgs*>(args);
  return depthwise::takes_3x3(a) && depthwise::fits(a);
}

}  // namespace

Error run_depthwise_conv2d_3x3(const void* args, const Bases& bases) {
  return depthwise::run<arm_depthwise_conv_3x3_s8>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2d> kDepthwiseConv2d3x3 =
    depthwise::kernel(run_depthwise_conv2d_3x3, accepts);

}  // namespace cmsis_nn_delegate::cmsis_nn
