#include "tests/conformance/scratch_sizes.h"

#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate {
namespace conformance {

using cmsis_nn::native;

std::int32_t cmsis_nn_scratch_size(std::uint32_t opcode, const void* args) {
  switch (static_cast<payload::Opcode>(opcode)) {
    case payload::Opcode::kConv2d: {
      const auto& a = *static_cast<const payload::Conv2dArgs*>(args);
      return arm_convolve_wrapper_s8_get_buffer_size(native(a.params), native(a.input_dims),
                                                     native(a.filter_dims),
                                                     native(a.output_dims));
    }
    case payload::Opcode::kDepthwiseConv2d: {
      const auto& a = *static_cast<const payload::DepthwiseConv2dArgs*>(args);
      return arm_depthwise_conv_wrapper_s8_get_buffer_size(native(a.params), native(a.input_dims),
                                                           native(a.filter_dims),
                                                           native(a.output_dims));
    }
    case payload::Opcode::kAvgPool2d: {
      const auto& a = *static_cast<const payload::AvgPool2dArgs*>(args);
      return arm_avgpool_s8_get_buffer_size(a.output_dims.w, a.input_dims.c);
    }
    default:
      return -1;
  }
}

}  // namespace conformance
}  // namespace cmsis_nn_delegate
