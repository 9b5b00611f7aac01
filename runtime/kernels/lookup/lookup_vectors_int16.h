// Look-ups of int16 for whole tensors. Assembly for an instruction set has the same function as PlainLookupsInt16
// (lookup_vectors_int16_tuned.cc).
#pragma once

#include <cstdint>

#include "runtime/kernels/common/interpolate.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// A table, and what its results are limited to. interpolated_table_members.h says where assembly finds the members.
struct InterpolatedTable {
  const std::int16_t* entries;  // the first is that of -32768
  std::int32_t shift;           // there is an entry for every 2^shift-th number
  std::int32_t least;           // results are limited to [least, most]
  std::int32_t most;
};

/// The function for plain C++.
struct PlainLookupsInt16 {
  /// Computes `count` >= 1 elements. The output may be the input.
  static void look_up(const InterpolatedTable& table, const std::int16_t* input,
                      std::int16_t* output, std::int32_t count) {
    for (std::int32_t i = 0; i < count; ++i) {
      const std::int32_t found = interpolate(table.entries, input[i], table.shift);
      const std::int32_t limited = found < table.least ? table.least : found;
      output[i] = static_cast<std::int16_t>(limited > table.most ? table.most : limited);
    }
  }
};

/// Computes one call: the body of a kernel's function. `Lookups` has the function of PlainLookupsInt16.
template <typename Lookups>
[[gnu::always_inline]] inline Error compute_lookup_vectors_int16(const void* args,
                                                                 const Bases& bases) {
  const auto& a = *static_cast<const payload::LookupVectorsInt16Args*>(args);
  const InterpolatedTable table = {bases.resolve<const std::int16_t>(a.table),
                                   interpolation_shift(a.entries), a.activation.min,
                                   a.activation.max};
  Lookups::look_up(table, bases.resolve<const std::int16_t>(a.input),
                   bases.resolve<std::int16_t>(a.output), a.count);
  return Error::Ok;
}

/// Returns the kernel whose `run` calls compute_lookup_vectors_int16(). The output may be the input: elements are read
/// before they are written.
constexpr Kernel lookup_vectors_int16_kernel(Kernel::Run run) {
  return Kernel(operators::kLookupVectorsInt16, run)
      .in_place()
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
