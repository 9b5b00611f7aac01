// The inner loops of vector_products.h in assembly, for MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/vector_products.h"
#include "runtime/kernels/common/vector_products_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_multiply_vectors(const portable::VectorProducts* products);
void cmsis_nn_delegate_multiply_nibble_vectors(const portable::VectorProducts* products);
void cmsis_nn_delegate_copy_columns(std::int8_t* to, const std::int8_t* from, std::int32_t columns,
                                    std::int32_t bytes, std::int32_t to_step,
                                    std::int32_t from_step);
void cmsis_nn_delegate_copy_windows(std::int8_t* to, const std::int8_t* from, std::int32_t windows,
                                    std::int32_t lines, std::int32_t line_bytes,
                                    std::int32_t line_step, std::int32_t window_bytes,
                                    std::int32_t window_step);
}

/// What all elements have.
struct MveColumns {
  static void copy_columns(std::int8_t* to, const std::int8_t* from, std::int32_t columns,
                           std::int32_t bytes, std::int32_t to_step, std::int32_t from_step) {
    cmsis_nn_delegate_copy_columns(to, from, columns, bytes, to_step, from_step);
  }
  static void copy_windows(std::int8_t* to, const std::int8_t* from, std::int32_t windows,
                           std::int32_t lines, std::int32_t line_bytes, std::int32_t line_step,
                           std::int32_t window_bytes, std::int32_t window_step) {
    cmsis_nn_delegate_copy_windows(to, from, windows, lines, line_bytes, line_step, window_bytes,
                                   window_step);
  }
};

struct MveVectorProducts : MveColumns {
  using Element = std::int8_t;

  static void multiply(const portable::VectorProducts& products) {
    cmsis_nn_delegate_multiply_vectors(&products);
  }
};

struct MveNibbleVectorProducts : MveVectorProducts {
  static void multiply(const portable::VectorProducts& products) {
    cmsis_nn_delegate_multiply_nibble_vectors(&products);
  }
};

}  // namespace cmsis_nn_delegate::tuned
