// Changes of the memory order of elements of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"
#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::portable {

#if CMSIS_NN_DELEGATE_VECTORS
// What moves kCount elements between neighbours and places that are apart: a place is counted in elements, and at most
// kFarthest.
struct SixteenBytes {
  static constexpr std::int32_t kCount = 16;
  static constexpr std::int32_t kFarthest = 0xFF;
  static uint8x16_t first_places() { return vidupq_n_u8(0, 1); }
  static uint8x16_t times(uint8x16_t places, std::int32_t step) {
    return vmulq_n_u8(places, static_cast<std::uint8_t>(step));
  }
  static uint8x16_t plus(uint8x16_t places, std::int32_t distance) {
    return vaddq_n_u8(places, static_cast<std::uint8_t>(distance));
  }
  static mve_pred16_t first(std::int32_t count) {
    return vctp8q(static_cast<std::uint32_t>(count));
  }
  static void gather(const std::int8_t* from, uint8x16_t places, std::int8_t* to) {
    vstrbq_s8(to, vldrbq_gather_offset_s8(from, places));
  }
  static void gather(const std::int8_t* from, uint8x16_t places, std::int8_t* to,
                     mve_pred16_t lanes) {
    vstrbq_p_s8(to, vldrbq_gather_offset_z_s8(from, places, lanes), lanes);
  }
  static void scatter(const std::int8_t* from, uint8x16_t places, std::int8_t* to) {
    vstrbq_scatter_offset_s8(to, places, vldrbq_s8(from));
  }
  static void scatter(const std::int8_t* from, uint8x16_t places, std::int8_t* to,
                      mve_pred16_t lanes) {
    vstrbq_scatter_offset_p_s8(to, places, vldrbq_z_s8(from, lanes), lanes);
  }
};

struct EightPlaces {
  static constexpr std::int32_t kCount = 8;
  static constexpr std::int32_t kFarthest = 0xFFFF;
  static uint16x8_t first_places() { return vidupq_n_u16(0, 1); }
  static uint16x8_t times(uint16x8_t places, std::int32_t step) {
    return vmulq_n_u16(places, static_cast<std::uint16_t>(step));
  }
  static uint16x8_t plus(uint16x8_t places, std::int32_t distance) {
    return vaddq_n_u16(places, static_cast<std::uint16_t>(distance));
  }
  static mve_pred16_t first(std::int32_t count) {
    return vctp16q(static_cast<std::uint32_t>(count));
  }
};

struct EightBytes : EightPlaces {
  static void gather(const std::int8_t* from, uint16x8_t places, std::int8_t* to) {
    vstrbq_s16(to, vldrbq_gather_offset_s16(from, places));
  }
  static void gather(const std::int8_t* from, uint16x8_t places, std::int8_t* to,
                     mve_pred16_t lanes) {
    vstrbq_p_s16(to, vldrbq_gather_offset_z_s16(from, places, lanes), lanes);
  }
  static void scatter(const std::int8_t* from, uint16x8_t places, std::int8_t* to) {
    vstrbq_scatter_offset_s16(to, places, vldrbq_s16(from));
  }
  static void scatter(const std::int8_t* from, uint16x8_t places, std::int8_t* to,
                      mve_pred16_t lanes) {
    vstrbq_scatter_offset_p_s16(to, places, vldrbq_z_s16(from, lanes), lanes);
  }
};

struct EightHalfwords : EightPlaces {
  static void gather(const std::int16_t* from, uint16x8_t places, std::int16_t* to) {
    vstrhq_s16(to, vldrhq_gather_shifted_offset_s16(from, places));
  }
  static void gather(const std::int16_t* from, uint16x8_t places, std::int16_t* to,
                     mve_pred16_t lanes) {
    vstrhq_p_s16(to, vldrhq_gather_shifted_offset_z_s16(from, places, lanes), lanes);
  }
  static void scatter(const std::int16_t* from, uint16x8_t places, std::int16_t* to) {
    vstrhq_scatter_shifted_offset_s16(to, places, vldrhq_s16(from));
  }
  static void scatter(const std::int16_t* from, uint16x8_t places, std::int16_t* to,
                      mve_pred16_t lanes) {
    vstrhq_scatter_shifted_offset_p_s16(to, places, vldrhq_z_s16(from, lanes), lanes);
  }
};

#if CMSIS_NN_DELEGATE_FLOAT_VECTORS
struct FourFloats {
  static constexpr std::int32_t kCount = 4;
  static constexpr std::int32_t kFarthest = 0x3FFFFFFF;
  static uint32x4_t first_places() { return vidupq_n_u32(0, 1); }
  static uint32x4_t times(uint32x4_t places, std::int32_t step) {
    return vmulq_n_u32(places, static_cast<std::uint32_t>(step));
  }
  static uint32x4_t plus(uint32x4_t places, std::int32_t distance) {
    return vaddq_n_u32(places, static_cast<std::uint32_t>(distance));
  }
  static mve_pred16_t first(std::int32_t count) { return first_of_four(count); }
  static void gather(const float* from, uint32x4_t places, float* to) {
    vstrwq_f32(to, vldrwq_gather_shifted_offset_f32(from, places));
  }
  static void gather(const float* from, uint32x4_t places, float* to, mve_pred16_t lanes) {
    vstrwq_p_f32(to, vldrwq_gather_shifted_offset_z_f32(from, places, lanes), lanes);
  }
  static void scatter(const float* from, uint32x4_t places, float* to) {
    vstrwq_scatter_shifted_offset_f32(to, places, vldrwq_f32(from));
  }
  static void scatter(const float* from, uint32x4_t places, float* to, mve_pred16_t lanes) {
    vstrwq_scatter_shifted_offset_p_f32(to, places, vldrwq_z_f32(from, lanes), lanes);
  }
};
#endif

/// Moves `lines` lines of `length` elements. Those of a line are neighbours on one side, and `lines` elements apart on
/// the other one: where they are loaded from if kGathers, otherwise where they are stored.
template <typename Vector, bool kGathers, typename Element>
inline void move_lines(const Element* input, Element* output, std::int32_t lines,
                       std::int32_t length) {
  constexpr std::int32_t kCount = Vector::kCount;
  const auto places = Vector::times(Vector::first_places(), lines);
  const auto second = Vector::plus(places, kCount * lines);
  const auto third = Vector::plus(second, kCount * lines);
  const auto fourth = Vector::plus(third, kCount * lines);
  const bool near_enough = (4 * kCount - 1) * lines <= Vector::kFarthest;
  const std::int32_t fours = near_enough ? length / (4 * kCount) : 0;
  const std::int32_t vectors = length / kCount - 4 * fours;
  const std::int32_t rest = length % kCount;
  const mve_pred16_t lanes = Vector::first(rest);
  for (std::int32_t line = 0; line < lines; ++line) {
    const Element* in = kGathers ? input + line : input + line * length;
    Element* out = kGathers ? output + line * length : output + line;
    std::int32_t i = 0;
    const auto move = [&](std::int32_t near, auto now, auto... some) {
      if constexpr (kGathers) {
        Vector::gather(in + i * lines, now, out + i + near, some...);
      } else {
        Vector::scatter(in + i + near, now, out + i * lines, some...);
      }
    };
    for (std::int32_t left = fours; left > 0; --left) {  // which share what a loop takes
      move(0, places);
      move(kCount, second);
      move(2 * kCount, third);
      move(3 * kCount, fourth);
      i += 4 * kCount;
    }
    for (std::int32_t left = vectors; left > 0; --left) {
      move(0, places);
      i += kCount;
    }
    if (rest > 0) {
      move(0, places, lanes);
    }
  }
}

/// Transposes one matrix by vectors, if its places are near enough.
template <typename Vector, typename Element>
inline bool transpose_by(const Element* input, Element* output, std::int32_t rows,
                         std::int32_t columns) {
  const std::int32_t lines = rows < columns ? rows : columns;
  if (lines > Vector::kFarthest / (Vector::kCount - 1)) {
    return false;
  }
  if (rows < columns) {
    move_lines<Vector, false>(input, output, rows, columns);
  } else {
    move_lines<Vector, true>(input, output, columns, rows);
  }
  return true;
}

inline bool transpose_matrix(const std::int8_t* input, std::int8_t* output, std::int32_t rows,
                             std::int32_t columns) {
  return transpose_by<SixteenBytes>(input, output, rows, columns) ||
         transpose_by<EightBytes>(input, output, rows, columns);
}
inline bool transpose_matrix(const std::int16_t* input, std::int16_t* output, std::int32_t rows,
                             std::int32_t columns) {
  return transpose_by<EightHalfwords>(input, output, rows, columns);
}
inline bool transpose_matrix([[maybe_unused]] const float* input, [[maybe_unused]] float* output,
                             [[maybe_unused]] std::int32_t rows,
                             [[maybe_unused]] std::int32_t columns) {
#if CMSIS_NN_DELEGATE_FLOAT_VECTORS
  return transpose_by<FourFloats>(input, output, rows, columns);
#else
  return false;
#endif
}
#endif

#if CMSIS_NN_DELEGATE_WORDS
/// Transposes as many of the columns of four rows as fours are, and returns how many.
inline std::int32_t transpose_four_rows(const std::int8_t* input, std::int8_t* output,
                                        std::int32_t rows, std::int32_t columns) {
  const std::int8_t* row1 = input + columns;
  const std::int8_t* row2 = row1 + columns;
  const std::int8_t* row3 = row2 + columns;
  std::int32_t done = 0;
  for (; done + 4 <= columns; done += 4) {
    constexpr std::uint32_t kEven = 0x00FF00FF;
    std::uint32_t a = load_word(input + done);
    std::uint32_t b = load_word(row1 + done);
    std::uint32_t c = load_word(row2 + done);
    std::uint32_t d = load_word(row3 + done);
    // Odd bytes of one row and even ones of the next change places, and then upper halves and lower ones.
    const std::uint32_t ab = ((a >> 8) ^ b) & kEven;
    const std::uint32_t cd = ((c >> 8) ^ d) & kEven;
    a ^= ab << 8;
    b ^= ab;
    c ^= cd << 8;
    d ^= cd;
    std::int8_t* out = output + done * rows;
    store_word(out, lower_halves(a, c));
    store_word(out + rows, lower_halves(b, d));
    store_word(out + 2 * rows, upper_halves(a, c));
    store_word(out + 3 * rows, upper_halves(b, d));
  }
  return done;
}
#endif

/// Computes one call; `Args` is the argument block of a kernel for elements of type Element.
template <typename Element, typename Args>
void transpose_elements(const Args& a, const Bases& bases) {
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);

  if (a.rows == 1 || a.columns == 1) {  // the order stays
    std::memcpy(output, input,
                static_cast<std::size_t>(a.batch * a.rows * a.columns) * sizeof(Element));
    return;
  }
  constexpr std::int32_t kAtATime = 4;  // rows, so that a column's elements share what a loop takes
  const std::int32_t rows = a.rows;
  const std::int32_t columns = a.columns;
  for (std::int32_t n = 0; n < a.batch; ++n) {
#if CMSIS_NN_DELEGATE_VECTORS
    if (transpose_matrix(input, output, rows, columns)) {
      input += rows * columns;
      output += rows * columns;
      continue;
    }
#endif
    std::int32_t row = 0;
    for (; row + kAtATime <= rows; row += kAtATime) {
      const Element* row0 = input + row * columns;
      const Element* row1 = row0 + columns;
      const Element* row2 = row1 + columns;
      const Element* row3 = row2 + columns;
      Element* out = output + row;
      std::int32_t left = columns;
#if CMSIS_NN_DELEGATE_WORDS
      if constexpr (sizeof(Element) == 1) {
        const std::int32_t done = columns < 4 ? 0 : transpose_four_rows(row0, out, rows, columns);
        if (done != 0) {
          left -= done;
          if (left == 0) {
            continue;
          }
          row0 += done;
          row1 += done;
          row2 += done;
          row3 += done;
          out += done * rows;
        }
      }
#endif
      for (;;) {
        out[0] = *row0++;
        out[1] = *row1++;
        out[2] = *row2++;
        out[3] = *row3++;
        if (--left == 0) {
          break;
        }
        out += rows;  // never beyond the tensor
      }
    }
    for (; row < rows; ++row) {
      const Element* in = input + row * columns;
      Element* out = output + row;
      for (std::int32_t left = columns;;) {
        *out = *in++;
        if (--left == 0) {
          break;
        }
        out += rows;
      }
    }
    input += rows * columns;
    output += rows * columns;
  }
}

}  // namespace cmsis_nn_delegate::portable
