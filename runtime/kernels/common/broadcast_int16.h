// Walks two operands of int16 of which one or both are repeated along some dimensions.
#pragma once

#include "runtime/kernels/common/broadcast_tensors.h"

namespace cmsis_nn_delegate::portable {

/// Calls `row` for all elements of the output, in order. An element or a short row that is repeated is given to
/// `row` as many copies at a time. Returns the first error.
[[nodiscard]] executorch::runtime::Error for_each_row(const BroadcastTensors<std::int16_t>& tensors,
                                                      const void* args, Row<std::int16_t> row);

}  // namespace cmsis_nn_delegate::portable
