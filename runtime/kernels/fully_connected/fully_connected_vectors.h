// Linear layer, row by row, as products of vectors of inputs with blocks of eight channels.
#pragma once

#include <cstdint>

#include "runtime/kernels/fully_connected/row_vectors.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Computes one call with the zero point `offset` of the output: the body of a kernel's function, which has no call more
/// for it. `Vectors` has the function of PlainRowVectors.
template <typename Vectors, typename Element, typename Args>
[[gnu::always_inline]] inline Error compute_fully_connected_vectors(const Args& a,
                                                                    const Bases& bases,
                                                                    std::int32_t offset) {
  constexpr std::int32_t kVector = row_vectors::kVector<Element>;
  RowVectors<Element> row;
  row.input = bases.resolve<const Element>(a.input);
  row.table = bases.resolve<const std::int8_t>(a.table);
  row.output = bases.resolve<Element>(a.output);
  row.channels = a.outputs;
  row.vectors = (a.inputs + kVector - 1) / kVector;
  row.first = a.inputs - (row.vectors - 1) * kVector;
  row.least = a.activation.min;
  row.most = a.activation.max;
  row.offset = offset;
  for (std::int32_t n = 0; n < a.batch; ++n) {
    Vectors::multiply(row);
    row.input += a.inputs;
    row.output += a.outputs;
  }
  return Error::Ok;
}

template <typename Vectors>
[[gnu::always_inline]] inline Error compute_fully_connected_vectors(const void* args,
                                                                    const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedVectorsArgs*>(args);
  return compute_fully_connected_vectors<Vectors, std::int8_t>(a, bases, a.output_offset);
}

template <typename Vectors>
[[gnu::always_inline]] inline Error compute_fully_connected_vectors_int16(const void* args,
                                                                          const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedVectorsInt16Args*>(args);
  return compute_fully_connected_vectors<Vectors, std::int16_t>(a, bases, 0);
}

/// Returns whether the table has as many words as the sizes ask for.
template <typename Element, typename Args>
bool fully_connected_vectors_accepts(const void* args) {
  constexpr std::int32_t kVector = row_vectors::kVector<Element>;
  constexpr std::int32_t kChannels = row_vectors::kChannels;
  const auto& a = *static_cast<const Args*>(args);
  const std::int32_t vectors = (a.inputs + kVector - 1) / kVector;
  return a.block_words == row_vectors::kScaleWords + vectors * (kVector * kChannels / 4) &&
         a.blocks == (a.outputs + kChannels - 1) / kChannels;
}

/// Returns the kernel whose `run` calls compute_fully_connected_vectors().
constexpr Kernel fully_connected_vectors_kernel(Kernel::Run run) {
  return Kernel(operators::kFullyConnectedVectors, run)
      .limited_to(fully_connected_vectors_accepts<std::int8_t, payload::FullyConnectedVectorsArgs>)
      .only_of(payload::ProviderId::kTuned);
}

/// Returns the kernel whose `run` calls compute_fully_connected_vectors_int16().
constexpr Kernel fully_connected_vectors_int16_kernel(Kernel::Run run) {
  return Kernel(operators::kFullyConnectedVectorsInt16, run)
      .limited_to(
          fully_connected_vectors_accepts<std::int16_t, payload::FullyConnectedVectorsInt16Args>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
