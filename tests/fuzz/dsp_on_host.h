// The DSP instructions that CMSIS-NN uses, in plain C, so that its code for Cortex-M4, M7 and M33 runs on the
// host.
//
// Included before its sources (-include), together with __ARM_FEATURE_DSP=1, this header replaces
// Internal/arm_nn_compiler.h. It defines that header's names of attributes and instructions, according to the
// description of each instruction in the Armv7-M Architecture Reference Manual. Nothing here has undefined
// behaviour, so all findings of a sanitizer are in CMSIS-NN.
#pragma once

#define ARM_NN_COMPILER_H  // keeps CMSIS-NN's header out

#include <stdint.h>

#define __ASM __asm
#define __INLINE inline
#define __STATIC_INLINE static inline
#define __STATIC_FORCEINLINE __attribute__((always_inline)) static inline
#define __RESTRICT __restrict
#define UNUSED_ATTR __attribute__((unused))

/// Halfwords of a register, signed.
__STATIC_FORCEINLINE int32_t dsp_bottom(uint32_t value) { return (int16_t)(value & 0xFFFF); }
__STATIC_FORCEINLINE int32_t dsp_top(uint32_t value) { return (int16_t)(value >> 16); }
__STATIC_FORCEINLINE uint32_t dsp_pack(uint32_t bottom, uint32_t top) {
  return (bottom & 0xFFFF) | top << 16;
}
__STATIC_FORCEINLINE uint32_t dsp_byte(uint32_t value, unsigned index) {
  return (uint32_t)(int32_t)(int8_t)(value >> (8 * index) & 0xFF);
}

/// CLZ: leading zeros, 32 for 0.
__STATIC_FORCEINLINE uint8_t CLZ(uint32_t value) {
  return (uint8_t)(value == 0 ? 32 : __builtin_clz(value));
}

/// ROR by `amount` modulo 32.
__STATIC_FORCEINLINE uint32_t ROR(uint32_t value, uint32_t amount) {
  amount &= 31;
  return amount == 0 ? value : value >> amount | value << (32 - amount);
}

/// SXTB16: bytes 0 and 2, sign-extended to halfwords.
__STATIC_FORCEINLINE uint32_t SXTB16(uint32_t value) {
  return dsp_pack(dsp_byte(value, 0), dsp_byte(value, 2));
}
/// The compiler's own name of the instruction, which one of CMSIS-NN's headers uses.
#define __sxtb16 SXTB16
/// SXTAB16: the same, added to the halfwords of `addend` without carry between them.
__STATIC_FORCEINLINE uint32_t SXTAB16(uint32_t addend, uint32_t value) {
  return dsp_pack(addend + dsp_byte(value, 0), (addend >> 16) + dsp_byte(value, 2));
}
/// With the operand rotated first.
__STATIC_FORCEINLINE uint32_t SXTB16_RORn(uint32_t value, uint32_t rotation) {
  return SXTB16(ROR(value, rotation));
}
__STATIC_FORCEINLINE uint32_t SXTAB16_RORn(uint32_t addend, uint32_t value, uint32_t rotation) {
  return SXTAB16(addend, ROR(value, rotation));
}

/// PKHBT, PKHTB: one halfword of each operand, the second one shifted (arithmetically to the right).
#define PKHBT(a, b, shift) \
  ((uint32_t)(((uint32_t)(a) & 0x0000FFFFu) | (((uint32_t)(b) << (shift)) & 0xFFFF0000u)))
#define PKHTB(a, b, shift) \
  ((uint32_t)(((uint32_t)(a) & 0xFFFF0000u) | ((uint32_t)((int32_t)(b) >> (shift)) & 0x0000FFFFu)))

/// Products of halfwords; sums wrap (the Q flag is not modelled because no code reads it).
__STATIC_FORCEINLINE uint32_t SMULBB(uint32_t a, uint32_t b) {
  return (uint32_t)(dsp_bottom(a) * dsp_bottom(b));
}
__STATIC_FORCEINLINE uint32_t SMULTT(uint32_t a, uint32_t b) {
  return (uint32_t)(dsp_top(a) * dsp_top(b));
}
__STATIC_FORCEINLINE uint32_t SMLABB(uint32_t a, uint32_t b, uint32_t sum) {
  return SMULBB(a, b) + sum;
}
__STATIC_FORCEINLINE uint32_t SMLATT(uint32_t a, uint32_t b, uint32_t sum) {
  return SMULTT(a, b) + sum;
}
/// SMLAD: both products, added to `sum`.
__STATIC_FORCEINLINE uint32_t SMLAD(uint32_t a, uint32_t b, uint32_t sum) {
  return SMULBB(a, b) + SMULTT(a, b) + sum;
}
/// SMLALD: the same in 64 bits.
__STATIC_FORCEINLINE uint64_t SMLALD(uint32_t a, uint32_t b, uint64_t sum) {
  return sum + (uint64_t)((int64_t)(int32_t)SMULBB(a, b) + (int64_t)(int32_t)SMULTT(a, b));
}

/// SADD16: sums of halfwords without carry between them.
__STATIC_FORCEINLINE uint32_t SADD16(uint32_t a, uint32_t b) {
  return dsp_pack(a + b, (a >> 16) + (b >> 16));
}

__STATIC_FORCEINLINE int32_t dsp_saturate(int64_t value, int64_t low, int64_t high) {
  return (int32_t)(value < low ? low : (value > high ? high : value));
}
/// QADD: a saturating sum.
__STATIC_FORCEINLINE int32_t QADD(int32_t a, int32_t b) {
  return dsp_saturate((int64_t)a + b, INT32_MIN, INT32_MAX);
}
/// QSUB16, QSUB8: saturating differences of halfwords and bytes.
__STATIC_FORCEINLINE uint32_t QSUB16(uint32_t a, uint32_t b) {
  return dsp_pack((uint32_t)dsp_saturate(dsp_bottom(a) - dsp_bottom(b), INT16_MIN, INT16_MAX),
                  (uint32_t)dsp_saturate(dsp_top(a) - dsp_top(b), INT16_MIN, INT16_MAX));
}
__STATIC_FORCEINLINE uint32_t QSUB8(uint32_t a, uint32_t b) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const int64_t difference = (int64_t)(int32_t)dsp_byte(a, i) - (int32_t)dsp_byte(b, i);
    result |= ((uint32_t)dsp_saturate(difference, INT8_MIN, INT8_MAX) & 0xFF) << (8 * i);
  }
  return result;
}
