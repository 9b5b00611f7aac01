#include "runtime/kernels/common/broadcast.h"

#include "runtime/kernels/common/broadcast_rows.h"

namespace cmsis_nn_delegate::portable {

executorch::runtime::Error for_each_row(const BroadcastTensors<std::int8_t>& tensors,
                                        const void* args, Row<std::int8_t> row) {
  return walk_rows(tensors, args, row);
}

}  // namespace cmsis_nn_delegate::portable
