// The larger or the smaller one of two elements, also of each of those of two vectors or words, for kernels of any provider.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"

namespace cmsis_nn_delegate::portable {

#if CMSIS_NN_DELEGATE_VECTORS
// Vectors of Elements: `kCount` of them, or fewer with a predicate.
inline mve_pred16_t first_of(const std::int8_t*, std::int32_t count) {
  return vctp8q(static_cast<std::uint32_t>(count));
}
inline mve_pred16_t first_of(const std::int16_t*, std::int32_t count) {
  return vctp16q(static_cast<std::uint32_t>(count));
}
inline int8x16_t load(const std::int8_t* from) { return vldrbq_s8(from); }
inline int16x8_t load(const std::int16_t* from) { return vldrhq_s16(from); }
inline int8x16_t load(const std::int8_t* from, mve_pred16_t lanes) {
  return vldrbq_z_s8(from, lanes);
}
inline int16x8_t load(const std::int16_t* from, mve_pred16_t lanes) {
  return vldrhq_z_s16(from, lanes);
}
inline void store(std::int8_t* to, int8x16_t values) { vstrbq_s8(to, values); }
inline void store(std::int16_t* to, int16x8_t values) { vstrhq_s16(to, values); }
inline void store(std::int8_t* to, int8x16_t values, mve_pred16_t lanes) {
  vstrbq_p_s8(to, values, lanes);
}
inline void store(std::int16_t* to, int16x8_t values, mve_pred16_t lanes) {
  vstrhq_p_s16(to, values, lanes);
}
#endif

/// The larger and the smaller one of two elements: `better(a, b)` says that `a` replaces `b`.
struct Largest {
  static bool better(std::int32_t a, std::int32_t b) { return a > b; }
#if CMSIS_NN_DELEGATE_WORDS
  static std::uint32_t of_each_byte(std::uint32_t a, std::uint32_t b) {
    __ssub8(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));  // says where a >= b
    return __sel(a, b);
  }
  static std::uint32_t of_each_halfword(std::uint32_t a, std::uint32_t b) {
    __ssub16(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
    return __sel(a, b);
  }
#endif
#if CMSIS_NN_DELEGATE_VECTORS
  static int8x16_t of_each(int8x16_t a, int8x16_t b) { return vmaxq_s8(a, b); }
  static int16x8_t of_each(int16x8_t a, int16x8_t b) { return vmaxq_s16(a, b); }
  static std::int8_t of_all(std::int8_t a, int8x16_t b) { return vmaxvq_s8(a, b); }
  static std::int16_t of_all(std::int16_t a, int16x8_t b) { return vmaxvq_s16(a, b); }
  static std::int8_t of_all(std::int8_t a, int8x16_t b, mve_pred16_t lanes) {
    return vmaxvq_p_s8(a, b, lanes);
  }
  static std::int16_t of_all(std::int16_t a, int16x8_t b, mve_pred16_t lanes) {
    return vmaxvq_p_s16(a, b, lanes);
  }
#endif
};
struct Smallest {
  static bool better(std::int32_t a, std::int32_t b) { return a < b; }
#if CMSIS_NN_DELEGATE_WORDS
  static std::uint32_t of_each_byte(std::uint32_t a, std::uint32_t b) {
    __ssub8(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));  // says where a >= b
    return __sel(b, a);
  }
  static std::uint32_t of_each_halfword(std::uint32_t a, std::uint32_t b) {
    __ssub16(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
    return __sel(b, a);
  }
#endif
#if CMSIS_NN_DELEGATE_VECTORS
  static int8x16_t of_each(int8x16_t a, int8x16_t b) { return vminq_s8(a, b); }
  static int16x8_t of_each(int16x8_t a, int16x8_t b) { return vminq_s16(a, b); }
  static std::int8_t of_all(std::int8_t a, int8x16_t b) { return vminvq_s8(a, b); }
  static std::int16_t of_all(std::int16_t a, int16x8_t b) { return vminvq_s16(a, b); }
  static std::int8_t of_all(std::int8_t a, int8x16_t b, mve_pred16_t lanes) {
    return vminvq_p_s8(a, b, lanes);
  }
  static std::int16_t of_all(std::int16_t a, int16x8_t b, mve_pred16_t lanes) {
    return vminvq_p_s16(a, b, lanes);
  }
#endif
};

}  // namespace cmsis_nn_delegate::portable
