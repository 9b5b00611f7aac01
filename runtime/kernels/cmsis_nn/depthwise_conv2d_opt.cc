#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/depthwise.h"

namespace cmsis_nn_delegate {
namespace cmsis_nn {
namespace {

bool accepts(const void* args) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dArgs*>(args);
  return depthwise::takes_opt(a) && depthwise::fits(a);
}

}  // namespace

constexpr KernelOf<payload::Opcode::kDepthwiseConv2d> kDepthwiseConv2dOpt =
    depthwise::kernel(depthwise::run<arm_depthwise_conv_s8_opt>, accepts);

Error depthwise_conv2d_opt(const payload::DepthwiseConv2dArgs& args, const Bases& bases) {
  return kDepthwiseConv2dOpt.run(&args, bases);
}

}  // namespace cmsis_nn
}  // namespace cmsis_nn_delegate
