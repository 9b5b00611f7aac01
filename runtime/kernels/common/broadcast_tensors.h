// Two operands of which one or both are repeated along some dimensions.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/error.h>

#include "runtime/payload/bases.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable {

/// Computes `count` elements next to each other in all three tensors. `args` is the argument block.
template <typename Element>
using Row = executorch::runtime::Error (*)(const void* args, const Element* input1,
                                           const Element* input2, Element* output,
                                           std::int32_t count);

template <typename Element>
struct BroadcastTensors {
  const Element* input1;
  const Element* input2;
  Element* output;  // may be an input of its size
  const payload::Dims* input1_dims;
  const payload::Dims* input2_dims;
  const payload::Dims* output_dims;
};

/// Calls for_each_row of broadcast.h or broadcast_int16.h for the operands of `args`, the block of a call with
/// `input1_dims`, `input2_dims` and `output_dims`.
template <typename Element, typename Args>
[[nodiscard]] executorch::runtime::Error for_each_row(
    const Args& args, const Bases& bases,
    executorch::runtime::Error (*row)(const void* args, const Element* input1,
                                      const Element* input2, Element* output, std::int32_t count)) {
  const BroadcastTensors<Element> tensors = {bases.resolve<const Element>(args.input1),
                                             bases.resolve<const Element>(args.input2),
                                             bases.resolve<Element>(args.output),
                                             &args.input1_dims,
                                             &args.input2_dims,
                                             &args.output_dims};
  return for_each_row(tensors, &args, row);
}

}  // namespace cmsis_nn_delegate::portable
