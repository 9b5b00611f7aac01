// Linear layer, row by row, as products of vectors of inputs with blocks of eight channels.
#pragma once

#include <cstdint>

#include "runtime/kernels/fully_connected/row_vectors.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Computes one call: the body of a kernel's function, which has no call more for it. `Vectors` has the function of
/// PlainRowVectors or PlainNibbleRowVectors.
template <typename Vectors, typename Element, typename Args>
[[gnu::always_inline]] inline Error compute_fully_connected_vectors(const void* args,
                                                                    const Bases& bases) {
  constexpr std::int32_t kVector = row_vectors::kVector<Element>;
  const auto& a = *static_cast<const Args*>(args);
  RowVectors<Element> row;
  row.input = bases.resolve<const Element>(a.input);
  row.table = bases.resolve<const std::int8_t>(a.table);
  row.output = bases.resolve<Element>(a.output);
  row.channels = a.outputs;
  row.vectors = (a.inputs + kVector - 1) / kVector;
  row.first = a.inputs - (row.vectors - 1) * kVector;
  row.least = a.activation.min;
  row.most = a.activation.max;
  if constexpr (sizeof(Element) == 1) {
    row.offset = a.output_offset;
  } else {
    row.offset = 0;
  }
  for (std::int32_t n = 0; n < a.batch; ++n) {
    Vectors::multiply(row);
    row.input += a.inputs;
    row.output += a.outputs;
  }
  return Error::Ok;
}

/// Returns whether the table has as many words as the sizes ask for.
template <typename Weights, typename Element, typename Args>
bool fully_connected_vectors_accepts(const void* args) {
  constexpr std::int32_t kVector = row_vectors::kVector<Element>;
  constexpr std::int32_t kChannels = row_vectors::kChannels;
  const auto& a = *static_cast<const Args*>(args);
  const std::int32_t vectors = (a.inputs + kVector - 1) / kVector;
  return a.block_words == row_vectors::block_words<Weights, Element>(vectors) &&
         a.blocks == (a.outputs + kChannels - 1) / kChannels;
}

/// Returns the kernel with the argument block `Args` whose `run` calls compute_fully_connected_vectors().
template <typename Weights, typename Element, typename Args>
constexpr Kernel fully_connected_vectors_kernel(const Operator& op, Kernel::Run run) {
  return Kernel(op, run)
      .limited_to(fully_connected_vectors_accepts<Weights, Element, Args>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
