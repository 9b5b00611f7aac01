// Four elements at a time on cores with MVE, for kernels of any provider.
//
// CMSIS_NN_DELEGATE_VECTORS is 1 where a kernel may use vectors of integers, and CMSIS_NN_DELEGATE_FLOAT_VECTORS where it
// may use vectors of floats too; they are 0 on other cores, and where the compiler is asked for small code. A kernel
// computes the same with them and without.
#pragma once

#if defined(__ARM_FEATURE_MVE) && !defined(__OPTIMIZE_SIZE__)
#define CMSIS_NN_DELEGATE_VECTORS (__ARM_FEATURE_MVE != 0)
#define CMSIS_NN_DELEGATE_FLOAT_VECTORS ((__ARM_FEATURE_MVE & 2) != 0)
#else
#define CMSIS_NN_DELEGATE_VECTORS 0
#define CMSIS_NN_DELEGATE_FLOAT_VECTORS 0
#endif

#if CMSIS_NN_DELEGATE_VECTORS

#include <arm_mve.h>

#include <cstdint>

namespace cmsis_nn_delegate::portable {

// Elements that lie together; with a predicate, those of its lanes, and 0 in the others.
inline int32x4_t load_four(const std::int8_t* from) { return vldrbq_s32(from); }
inline int32x4_t load_four(const std::int16_t* from) { return vldrhq_s32(from); }
inline int32x4_t load_four(const std::int32_t* from) { return vldrwq_s32(from); }
inline int32x4_t load_four(const std::int8_t* from, mve_pred16_t lanes) {
  return vldrbq_z_s32(from, lanes);
}
inline int32x4_t load_four(const std::int16_t* from, mve_pred16_t lanes) {
  return vldrhq_z_s32(from, lanes);
}
inline int32x4_t load_four(const std::int32_t* from, mve_pred16_t lanes) {
  return vldrwq_z_s32(from, lanes);
}

// Stores the lower bits.
inline void store_four(std::int8_t* to, int32x4_t values) { vstrbq_s32(to, values); }
inline void store_four(std::int16_t* to, int32x4_t values) { vstrhq_s32(to, values); }
inline void store_four(std::int8_t* to, int32x4_t values, mve_pred16_t lanes) {
  vstrbq_p_s32(to, values, lanes);
}
inline void store_four(std::int16_t* to, int32x4_t values, mve_pred16_t lanes) {
  vstrhq_p_s32(to, values, lanes);
}

// Elements at `places`, counted in elements from the first one.
inline int32x4_t gather_four(const std::int8_t* from, uint32x4_t places) {
  return vldrbq_gather_offset_s32(from, places);
}
inline int32x4_t gather_four(const std::int16_t* from, uint32x4_t places) {
  return vldrhq_gather_shifted_offset_s32(from, places);
}
inline int32x4_t gather_four(const std::int8_t* from, uint32x4_t places, mve_pred16_t lanes) {
  return vldrbq_gather_offset_z_s32(from, places, lanes);
}
inline int32x4_t gather_four(const std::int16_t* from, uint32x4_t places, mve_pred16_t lanes) {
  return vldrhq_gather_shifted_offset_z_s32(from, places, lanes);
}
inline void scatter_four(std::int8_t* to, uint32x4_t places, int32x4_t values) {
  vstrbq_scatter_offset_s32(to, places, values);
}
inline void scatter_four(std::int16_t* to, uint32x4_t places, int32x4_t values) {
  vstrhq_scatter_shifted_offset_s32(to, places, values);
}
inline void scatter_four(std::int8_t* to, uint32x4_t places, int32x4_t values, mve_pred16_t lanes) {
  vstrbq_scatter_offset_p_s32(to, places, values, lanes);
}
inline void scatter_four(std::int16_t* to, uint32x4_t places, int32x4_t values,
                         mve_pred16_t lanes) {
  vstrhq_scatter_shifted_offset_p_s32(to, places, values, lanes);
}

#if CMSIS_NN_DELEGATE_FLOAT_VECTORS
inline float32x4_t load_four(const float* from) { return vldrwq_f32(from); }
inline float32x4_t load_four(const float* from, mve_pred16_t lanes) {
  return vldrwq_z_f32(from, lanes);
}
inline void store_four(float* to, float32x4_t values) { vstrwq_f32(to, values); }
inline void store_four(float* to, float32x4_t values, mve_pred16_t lanes) {
  vstrwq_p_f32(to, values, lanes);
}
#endif

/// The first `count` lanes of four.
inline mve_pred16_t first_of_four(std::int32_t count) {
  return vctp32q(static_cast<std::uint32_t>(count));
}

/// Calls part(index) for index = 0, 4, ... while four elements are left of `count`, and then part(index, lanes) for the
/// rest.
template <typename Part>
inline void for_fours(std::int32_t count, Part part) {
  std::int32_t index = 0;
  for (; index + 4 <= count; index += 4) {
    part(index);
  }
  if (index < count) {
    part(index, first_of_four(count - index));
  }
}

/// What requantize() of common/requantize.h returns for each of four values.
inline int32x4_t requantize_four(int32x4_t values, std::int32_t multiplier, std::int32_t shift) {
  const int32x4_t scaled = shift > 0 ? vshlq_r_s32(values, shift) : values;
  const int32x4_t high = vqrdmulhq_n_s32(scaled, multiplier);
  if (shift >= 0) {
    return high;
  }
  // vrshl rounds halves up: one less makes that "away from zero" for negative numbers.
  return vrshlq_n_s32(vqaddq_s32(high, vshrq_n_s32(high, 31)), shift);
}

/// What clamp_to() returns for each of four values, before it is stored.
template <typename Limits>
inline int32x4_t clamp_four(int32x4_t values, const Limits& activation) {
  return vminq_s32(vmaxq_s32(values, vdupq_n_s32(activation.min)), vdupq_n_s32(activation.max));
}

/// The upper 32 bits of a * b + (offset_high * 2^32 + offset_low), for each of four a and b.
inline int32x4_t upper_of_sum(int32x4_t a, int32x4_t b, int32x4_t offset_high,
                              uint32x4_t offset_low) {
  const uint32x4_t low = vaddq_u32(offset_low, vreinterpretq_u32_s32(vmulq_s32(a, b)));
  const int32x4_t high = vaddq_s32(offset_high, vmulhq_s32(a, b));
  return vaddq_m_n_s32(high, high, 1, vcmphiq_u32(offset_low, low));
}

}  // namespace cmsis_nn_delegate::portable

#endif
