// Softmax of int8 with a table of the exponentials.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/softmax_table_rows.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Computes one call: the body of a kernel's function, which has no call more for it. `Rows` has the functions of
/// PlainSoftmaxRows.
template <typename Rows>
[[gnu::always_inline]] inline Error compute_softmax_table(const void* args, const Bases& bases) {
  const auto& call = *static_cast<const payload::SoftmaxTableArgs*>(args);
  SoftmaxRow row = {};
  row.input = bases.resolve<const std::int8_t>(call.input);
  row.output = bases.resolve<std::int8_t>(call.output);
  row.table = bases.resolve<const std::int32_t>(call.table);
  row.size = call.row_size;
  for (std::int32_t i = 0; i < call.rows; ++i) {
    row.most = Rows::most(row.input, row.size);
    set_sum(Rows::sum(row), row);
    Rows::write(row);
    row.input += row.size;
    row.output += row.size;
  }
  return Error::Ok;
}

/// Returns the kernel whose `run` calls compute_softmax_table(). The output may be the input: a row is read before it is
/// written.
constexpr Kernel softmax_table_kernel(Kernel::Run run) {
  return Kernel(operators::kSoftmaxTable, run).in_place().only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
