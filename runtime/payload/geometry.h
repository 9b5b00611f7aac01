// How the sizes of convolutions and pooling must fit together: the checks that operators name as
// `geometry`.
//
// After them every dimension, stride and dilation is in [1, kMaxDim] and every padding in [0,
// kMaxDim], so that products of two fit 30 bits.
#pragma once

#include "runtime/payload/call_check.h"

namespace cmsis_nn_delegate {
namespace geometry {

bool convolution(const CallCheck& call, const payload::Conv2dArgs& args);
bool depthwise_convolution(const CallCheck& call, const payload::DepthwiseConv2dArgs& args);

/// Windows of pooling must overlap the input: an empty one would divide by zero, or keep what the
/// output held.
bool pooling(const CallCheck& call, const payload::PoolParams& params, const payload::Dims& in,
             const payload::Dims& filter, const payload::Dims& out);

template <typename Args>
bool pooling(const CallCheck& call, const Args& args) {
  return pooling(call, args.params, args.input_dims, args.filter_dims, args.output_dims);
}

}  // namespace geometry
}  // namespace cmsis_nn_delegate
