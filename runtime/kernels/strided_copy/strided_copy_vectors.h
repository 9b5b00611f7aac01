// Copies of bytes in nested loops, two loops at a time. Assembly for an instruction set has the same function as PlainCopies
// (strided_copy_vectors_tuned.cc).
#pragma once

#include <cstdint>

#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable {

/// The function for plain C++.
struct PlainCopies {
  /// Copies `rows`.size rows of `row`.size bytes, which are at least 1.
  static void copy_rows(const std::int8_t* in, std::int8_t* out, const payload::CopyAxis& rows,
                        const payload::CopyAxis& row) {
    for (std::int32_t i = 0; i < rows.size; ++i) {
      for (std::int32_t j = 0; j < row.size; ++j) {
        out[i * rows.output_stride + j * row.output_stride] =
            in[i * rows.input_stride + j * row.input_stride];
      }
    }
  }
};

namespace copy_vectors {

// The largest step of a row in either tensor: byte 15 of a vector lies 15 * kMostStep bytes behind byte 0, which has to fit
// into a byte.
inline constexpr std::int32_t kMostStep = 17;

}  // namespace copy_vectors

/// Computes one call: the body of a kernel's function. `Copies` has the function of PlainCopies.
template <typename Copies>
[[gnu::always_inline]] inline Error compute_strided_copy_vectors(const void* args,
                                                                 const Bases& bases) {
  const auto& a = *static_cast<const payload::StridedCopyVectorsArgs*>(args);
  const auto* in = bases.resolve<const std::int8_t>(a.input) + a.input_offset;
  auto* out = bases.resolve<std::int8_t>(a.output) + a.output_offset;
  const payload::CopyAxis* const outer[] = {&a.axis0, &a.axis1, &a.axis2, &a.axis3};
  std::int32_t done[] = {0, 0, 0, 0};
  for (;;) {
    Copies::copy_rows(in, out, a.axis4, a.axis5);
    // The next step of the innermost outer axis that has one; those inside of it start again.
    int axis = 3;
    while (++done[axis] == outer[axis]->size) {
      done[axis] = 0;
      in -= (outer[axis]->size - 1) * outer[axis]->input_stride;
      out -= (outer[axis]->size - 1) * outer[axis]->output_stride;
      if (--axis < 0) {
        return Error::Ok;
      }
    }
    in += outer[axis]->input_stride;
    out += outer[axis]->output_stride;
  }
}

/// Returns whether the steps of rows fit into the offsets of a vector.
inline bool strided_copy_vectors_accepts(const void* args) {
  const auto& row = static_cast<const payload::StridedCopyVectorsArgs*>(args)->axis5;
  return row.input_stride >= 0 && row.input_stride <= copy_vectors::kMostStep &&
         row.output_stride <= copy_vectors::kMostStep;
}

/// Returns the kernel whose `run` calls compute_strided_copy_vectors().
constexpr Kernel strided_copy_vectors_kernel(Kernel::Run run) {
  return Kernel(operators::kStridedCopyVectors, run)
      .limited_to(strided_copy_vectors_accepts)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
