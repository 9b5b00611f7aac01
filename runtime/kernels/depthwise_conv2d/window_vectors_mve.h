// The inner loops of window_vectors.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/common/vector_products_mve.h"
#include "runtime/kernels/depthwise_conv2d/window_vectors.h"
#include "runtime/kernels/depthwise_conv2d/window_vectors_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_window_vectors(const portable::WindowStrip* strip);
void cmsis_nn_delegate_interleave_rows(std::int8_t* to, const std::int8_t* const* rows,
                                       const std::int32_t* steps, std::int32_t count,
                                       std::int32_t channels, std::int8_t* keep);
}

struct MveWindowVectors : MveColumns {
  static void compute(const portable::WindowStrip& strip) {
    cmsis_nn_delegate_window_vectors(&strip);
  }
  static void interleave(std::int8_t* to,
                         const std::int8_t* const (&rows)[portable::window_vectors::kRows],
                         const std::int32_t (&steps)[portable::window_vectors::kRows],
                         std::int32_t count, std::int32_t channels, std::int8_t* keep) {
    cmsis_nn_delegate_interleave_rows(to, rows, steps, count, channels, keep);
  }
};

}  // namespace cmsis_nn_delegate::tuned
