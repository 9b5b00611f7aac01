// Linear layer with a factor for each group of inputs, row by row, as products of vectors of inputs with blocks of
// eight channels.
#pragma once

#include <cstdint>

#include "runtime/kernels/fully_connected_groups/group_vectors.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Computes one call: the body of a kernel's function. `Vectors` has the function of PlainGroupVectors.
template <typename Vectors>
[[gnu::always_inline]] inline Error compute_group_vectors(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedInt4GroupsVectorsArgs*>(args);
  GroupVectors row;
  row.input = bases.resolve<const std::int8_t>(a.input);
  row.table = bases.resolve<const std::int8_t>(a.table);
  row.output = bases.resolve<std::int8_t>(a.output);
  row.channels = a.outputs;
  row.vectors = a.group / GroupVectors::kVector;
  row.groups = a.groups;
  row.quads = (a.groups + GroupVectors::kQuad - 1) / GroupVectors::kQuad;
  row.sums = bases.resolve<std::int32_t>(a.scratch);
  row.eights = row.sums + row.quads * GroupVectors::kQuad * GroupVectors::kChannels;
  row.start = static_cast<std::int32_t>(group_totals::start(a.narrowing));
  row.narrowing = a.narrowing;
  row.offset = a.output_offset;
  row.least = a.activation.min;
  row.most = a.activation.max;
  for (std::int32_t n = 0; n < a.batch; ++n) {
    Vectors::multiply(row);
    row.input += a.groups * a.group;
    row.output += a.outputs;
  }
  return Error::Ok;
}

/// FullyConnectedInt4GroupsVectors.scratch_bytes in Python: sums of 8 channels and that of the inputs for each group.
inline std::uint32_t group_vectors_scratch_bytes(const void* args) {
  constexpr std::uint32_t kQuad = GroupVectors::kQuad;
  const auto& a = *static_cast<const payload::FullyConnectedInt4GroupsVectorsArgs*>(args);
  return (static_cast<std::uint32_t>(a.groups) + kQuad - 1) / kQuad * kQuad * 4 *
         (GroupVectors::kChannels + 1);
}

/// Returns whether the table has as many words as the sizes ask for, and groups are whole vectors.
inline bool group_vectors_accepts(const void* args) {
  constexpr std::int64_t kChannels = GroupVectors::kChannels;
  const auto& a = *static_cast<const payload::FullyConnectedInt4GroupsVectorsArgs*>(args);
  return a.group % GroupVectors::kVector == 0 &&
         a.blocks == (a.outputs + kChannels - 1) / kChannels &&
         a.block_words == group_vectors::block_words(a.groups, a.group);
}

/// Returns the kernel whose `run` calls compute_group_vectors().
constexpr Kernel group_vectors_kernel(Kernel::Run run) {
  return Kernel(operators::kFullyConnectedInt4GroupsVectors, run, group_vectors_scratch_bytes)
      .limited_to(group_vectors_accepts)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
