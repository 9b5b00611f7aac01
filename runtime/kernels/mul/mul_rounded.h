// Elementwise products, scaled by two multiplications that round as the operator's do. Assembly for an instruction set
// has the same functions as PlainProducts (mul_rounded_dsp.h, mul_rounded_mve.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/broadcast_rows.h"
#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// The numbers of a product: see aot/cmsis_nn_delegate/providers/tuned/mul_rounded.py.
struct RoundedProduct {
  std::int32_t offset1;
  std::int32_t offset2;
  std::int32_t multiplier;
  std::int32_t unit;
  std::int32_t output_offset;
  std::int32_t limited;  // 0: `least` and `most` are the limits of int8
  // Four times the limits of results, in a word.
  std::uint32_t least;
  std::uint32_t most;
};

namespace rounded_products {

// For copies of a short row.
inline constexpr std::int32_t kCopiesBytes = 128;

/// a * b / 2^31, rounded half up.
inline std::int32_t high(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>((std::int64_t{a} * b + (std::int64_t{1} << 30)) >> 31);
}

/// Computes an element.
inline std::int8_t multiply(std::int8_t a, std::int8_t b, const RoundedProduct& p) {
  const auto least = static_cast<std::int8_t>(p.least & 0xFF);
  const auto most = static_cast<std::int8_t>(p.most & 0xFF);
  const std::int32_t scaled = high((a + p.offset1) * (b + p.offset2), p.multiplier);
  const std::int32_t value = high(scaled, p.unit) + p.output_offset;
  return static_cast<std::int8_t>(value < least ? least : value > most ? most : value);
}

/// Computes the columns from `first` on of `rows` rows of `columns` elements, each times the same `row`. The output may
/// be `a`.
inline void multiply_columns(const std::int8_t* a, const std::int8_t* row, std::int8_t* output,
                             std::int32_t first, std::int32_t columns, std::int32_t rows,
                             const RoundedProduct& p) {
  for (std::int32_t column = first; column < columns; ++column) {
    for (std::int32_t i = column; i < rows * columns; i += columns) {
      output[i] = multiply(a[i], row[column], p);
    }
  }
}

}  // namespace rounded_products

/// The functions for plain C++.
struct PlainProducts {
  static constexpr std::int32_t kAtATime = 4;
  // Rows with a multiple of as many elements are computed fastest.
  static constexpr std::int32_t kColumns = 4;

  /// Computes `count` > 0 elements, a multiple of kAtATime.
  static void multiply(const std::int8_t* a, const std::int8_t* b, std::int8_t* output,
                       std::int32_t count, const RoundedProduct& p) {
    rounded_products::multiply_columns(a, b, output, 0, count, 1, p);
  }

  /// Computes `rows` > 0 rows of `columns` >= kAtATime elements, each times the same `row`, without the last elements
  /// of a row that are not a multiple of kAtATime.
  static void multiply_rows(const std::int8_t* a, const std::int8_t* row, std::int8_t* output,
                            std::int32_t columns, std::int32_t rows, const RoundedProduct& p) {
    for (std::int32_t i = 0; i < rows; ++i) {
      multiply(a + i * columns, row, output + i * columns, columns & -kAtATime, p);
    }
  }
};

/// Computes `count` elements. The output may be one of the inputs.
template <typename Products>
[[gnu::always_inline]] inline void multiply_all(const std::int8_t* a, const std::int8_t* b,
                                                std::int8_t* output, std::int32_t count,
                                                const RoundedProduct& p) {
  const std::int32_t done = count & -Products::kAtATime;
  if (done != 0) {
    Products::multiply(a, b, output, done, p);
  }
  rounded_products::multiply_columns(a, b, output, done, count, 1, p);
}

/// How many copies of a row of `columns` elements make one that is computed fastest: a power of two, for which there is
/// room.
template <typename Products>
inline std::int32_t copies_of(std::int32_t columns) {
  std::int32_t copies = 1;
  std::int32_t size = columns;
  while (size % Products::kColumns != 0 && 2 * size <= rounded_products::kCopiesBytes) {
    copies *= 2;
    size *= 2;
  }
  return copies;
}

/// Computes `rows` rows of `columns` elements, each times the same `row`. The output may be `a`.
template <typename Products>
inline void multiply_rows(const std::int8_t* a, const std::int8_t* row, std::int8_t* output,
                          std::int32_t columns, std::int32_t rows, const RoundedProduct& p) {
  std::int8_t copies[rounded_products::kCopiesBytes];
  std::int32_t left = rows * columns;
  std::int32_t most = copies_of<Products>(columns);
  if (most > rows) {
    most = rows;
  }
  if (most > 1) {
    if (columns == 1) {
      std::memset(copies, *row, static_cast<std::size_t>(most));
    } else {
      for (std::int32_t i = 0; i < most; ++i) {
        std::memcpy(copies + i * columns, row, static_cast<std::size_t>(columns));
      }
    }
    row = copies;
  }
  const std::int32_t size = most * columns;
  const std::int32_t whole = most > 1 ? left / size : rows;
  if (whole > 1 && size >= Products::kAtATime) {
    Products::multiply_rows(a, row, output, size, whole, p);
    rounded_products::multiply_columns(a, row, output, size & -Products::kAtATime, size, whole, p);
    a += whole * size;
    output += whole * size;
    left -= whole * size;
  }
  for (; left > 0; left -= size) {
    const std::int32_t count = left < size ? left : size;
    multiply_all<Products>(a, row, output, count, p);
    a += count;
    output += count;
  }
}

/// Returns the numbers of a call, which is a block of either kernel.
template <typename Args>
[[gnu::always_inline]] inline RoundedProduct rounded_product(const Args& call) {
  const payload::Activation& limits = call.activation;
  return {call.input1_offset,
          call.input2_offset,
          call.multiplier,
          call.unit,
          call.output_offset,
          is_limited<std::int8_t>(limits),
          repeated<std::int8_t>(limits.min),
          repeated<std::int8_t>(limits.max)};
}

/// Computes one call: the body of a kernel's function, which has no call more for it. `Products` has the functions of
/// PlainProducts.
template <typename Products>
[[gnu::always_inline]] inline Error compute_mul_rounded(const void* args, const Bases& bases) {
  const auto& call = *static_cast<const payload::MulRoundedArgs*>(args);
  multiply_all<Products>(
      bases.resolve<const std::int8_t>(call.input1), bases.resolve<const std::int8_t>(call.input2),
      bases.resolve<std::int8_t>(call.output), call.count, rounded_product(call));
  return Error::Ok;
}

/// The same for operands that are repeated along some dimensions.
template <typename Products>
[[gnu::always_inline]] inline Error compute_mul_rounded_broadcast(const void* args,
                                                                  const Bases& bases) {
  struct Tensor {
    const std::int8_t* data;
    const payload::Dims* dims;
  };
  const auto& call = *static_cast<const payload::MulRoundedBroadcastArgs*>(args);
  const payload::Dims& dims = call.output_dims;
  RoundedProduct p = rounded_product(call);
  // `b` is what is repeated along the innermost loop or, if neither is, along the next one.
  Tensor a = {bases.resolve<const std::int8_t>(call.input1), &call.input1_dims};
  Tensor b = {bases.resolve<const std::int8_t>(call.input2), &call.input2_dims};
  if (a.dims->c != dims.c || (b.dims->c == dims.c && a.dims->w != dims.w)) {
    const Tensor other = a;
    a = b;
    b = other;
    p.offset1 = call.input2_offset;
    p.offset2 = call.input1_offset;
  }
  const Strides strides_a(*a.dims);
  const Strides strides_b(*b.dims);
  auto* output = bases.resolve<std::int8_t>(call.output);
  for (std::int32_t n = 0; n < dims.n; ++n) {
    for (std::int32_t h = 0; h < dims.h; ++h) {
      const std::int8_t* input = a.data + n * strides_a.n + h * strides_a.h;
      const std::int8_t* repeated = b.data + n * strides_b.n + h * strides_b.h;
      if (b.dims->c != dims.c) {
        for (std::int32_t w = 0; w < dims.w; ++w) {
          multiply_rows<Products>(input, repeated, output, 1, dims.c, p);
          input += strides_a.w;
          repeated += strides_b.w;
          output += dims.c;
        }
      } else if (b.dims->w != dims.w) {
        multiply_rows<Products>(input, repeated, output, dims.c, dims.w, p);
        output += dims.w * dims.c;
      } else {
        multiply_all<Products>(input, repeated, output, dims.w * dims.c, p);
        output += dims.w * dims.c;
      }
    }
  }
  return Error::Ok;
}

/// Returns the kernel whose `run` calls compute_mul_rounded(). The output may be an input: elements are read before
/// they are written.
constexpr Kernel mul_rounded_kernel(Kernel::Run run) {
  return Kernel(operators::kMulRounded, run).in_place().only_of(payload::ProviderId::kTuned);
}

/// The same for compute_mul_rounded_broadcast(). The output may be an input of its size.
constexpr Kernel mul_rounded_broadcast_kernel(Kernel::Run run) {
  return Kernel(operators::kMulRoundedBroadcast, run)
      .in_place()
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
