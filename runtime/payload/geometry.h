// Checks how the sizes of convolutions and pooling fit together; operators name these checks as
// `geometry`.
//
// Once they hold, every dimension, stride and dilation is in [1, kMaxDim] and every padding in
// [0, kMaxDim], so that the product of two fits 30 bits.
#pragma once

#include "runtime/payload/call_check.h"

namespace cmsis_nn_delegate {
namespace geometry {

bool convolution(const CallCheck& call, const payload::Conv2dArgs& args);
bool depthwise_convolution(const CallCheck& call, const payload::DepthwiseConv2dArgs& args);

/// Pooling windows must overlap the input: for an empty window a kernel would divide by zero, or
/// leave the output as it was.
bool pooling(const CallCheck& call, const payload::PoolParams& params, const payload::Dims& in,
             const payload::Dims& filter, const payload::Dims& out);

template <typename Args>
bool pooling(const CallCheck& call, const Args& args) {
  return pooling(call, args.params, args.input_dims, args.filter_dims, args.output_dims);
}

}  // namespace geometry
}  // namespace cmsis_nn_delegate
