// Look-ups by a function for whole tensors. Assembly for an instruction set has the same function as PlainLookups
// (lookup_vectors_tuned.cc).
#pragma once

#include <cstdint>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// The function for plain C++.
struct PlainLookups {
  /// Computes `count` >= 1 elements. The output may be the input.
  static void look_up(const std::int8_t* input, const std::int8_t* table, std::int8_t* output,
                      std::int32_t count) {
    for (std::int32_t i = 0; i < count; ++i) {
      output[i] = table[input[i] + 128];
    }
  }
};

/// Computes one call: the body of a kernel's function. `Lookups` has the function of PlainLookups.
template <typename Lookups>
[[gnu::always_inline]] inline Error compute_lookup_vectors(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::LookupVectorsArgs*>(args);
  Lookups::look_up(bases.resolve<const std::int8_t>(a.input),
                   bases.resolve<const std::int8_t>(a.table), bases.resolve<std::int8_t>(a.output),
                   a.count);
  return Error::Ok;
}

/// Returns the kernel whose `run` calls compute_lookup_vectors(). The output may be the input: elements are read before
/// they are written.
constexpr Kernel lookup_vectors_kernel(Kernel::Run run) {
  return Kernel(operators::kLookupVectors, run).in_place().only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
