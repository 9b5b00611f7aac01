// Tests whether a simulator runs Armv8.1-M code with the vector extension correctly.
//
// Executes instructions that compilers and CMSIS-NN use on Cortex-M55 and M85, with values whose results are
// known. The exit code is the number of groups with wrong results. A missing instruction ends in a fault. Each
// group prints its line before it runs, so that the last line names the group that failed.
#include <arm_mve.h>

#include <cstddef>
#include <cstdint>

#include "platforms/bsp/bsp.h"

namespace {

int failures = 0;

void print(const char* text) {
  std::size_t size = 0;
  while (text[size] != '\0') {
    ++size;
  }
  bsp_write(text, size);
}

void check(bool ok) {
  print(ok ? "ok\n" : "WRONG\n");
  failures += ok ? 0 : 1;
}

// Opaque to the compiler, which must not compute the results itself.
template <typename T>
T opaque(T value) {
  volatile T copy = value;
  return copy;
}

// Result of a conditional instruction that writes r3, after comparing r1 = 5 with r2 = 7.
#define AFTER_5_CMP_7(instruction)                                                               \
  ([] {                                                                                          \
    std::uint32_t result;                                                                        \
    __asm__ volatile("movs r1, #5\n\tmovs r2, #7\n\tcmp r1, r2\n\t" instruction "\n\tmov %0, r3" \
                     : "=r"(result)::"r1", "r2", "r3", "cc");                                    \
    return result;                                                                               \
  }())

bool conditional_select() {
  constexpr std::uint32_t kOnes = 0xffffffff;
  return AFTER_5_CMP_7("cset r3, lt") == 1 && AFTER_5_CMP_7("cset r3, ge") == 0 &&
         AFTER_5_CMP_7("csetm r3, lt") == kOnes && AFTER_5_CMP_7("csetm r3, ge") == 0 &&
         AFTER_5_CMP_7("csel r3, zr, r2, lt") == 0 && AFTER_5_CMP_7("csel r3, r1, zr, ge") == 0 &&
         AFTER_5_CMP_7("csel r3, r1, r2, lt") == 5 && AFTER_5_CMP_7("csinc r3, r1, r2, ge") == 8 &&
         AFTER_5_CMP_7("csinv r3, r1, zr, ge") == kOnes &&
         AFTER_5_CMP_7("csneg r3, r1, r2, ge") == kOnes - 6;
}

constexpr int kCount = 32;
alignas(16) std::int8_t x[kCount];
alignas(16) std::int8_t y[kCount];

std::int32_t dot(int count) {
  std::int32_t sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += x[i] * y[i];
    __asm__ volatile("" : "+r"(sum));  // Not vectorised.
  }
  return sum;
}

bool multiply_accumulate_across() {
  const int8x16_t a = vldrbq_s8(x), b = vldrbq_s8(y);
  const int16x8_t wide = vldrbq_s16(x);  // With sign extension.
  std::int32_t sum = 0;
  for (int i = 0; i < 16; ++i) {
    sum += opaque(x[i]);
  }
  return vmladavaq_s8(3, a, b) == dot(16) + 3 && vmladavq_s16(wide, vldrbq_s16(y)) == dot(8) &&
         vaddvq_s8(a) == sum && vaddvaq_s8(-7, a) == sum - 7;
}

// Sets of up to 16 bytes, the last one cut off by the loop's own predicate.
std::int32_t tail_predicated_dot(int count) {
  std::int32_t sum = 0;
  const std::int8_t* a = x;
  const std::int8_t* b = y;
  __asm__ volatile(
      "wlstp.8 lr, %3, 2f\n"
      "1:\n"
      "vldrb.8 q0, [%1], #16\n"
      "vldrb.8 q1, [%2], #16\n"
      "vmladava.s8 %0, q0, q1\n"
      "letp lr, 1b\n"
      "2:\n"
      : "+Te"(sum), "+r"(a), "+r"(b)
      : "r"(count)
      : "q0", "q1", "lr", "memory", "cc");
  return sum;
}

bool tail_predicated_loop() {
  for (int count = 0; count <= kCount; ++count) {
    if (tail_predicated_dot(count) != dot(count)) {
      return false;
    }
  }
  return true;
}

// A loop without predicate: instructions executed `count` times.
bool low_overhead_loop() {
  std::uint32_t steps = 0;
  __asm__ volatile(
      "dls lr, %1\n"
      "1:\n"
      "adds %0, #3\n"
      "le lr, 1b\n"
      : "+l"(steps)
      : "r"(opaque(1000))
      : "lr", "cc");
  return steps == 3000;
}

bool predicates() {
  alignas(16) std::int8_t out[16];
  vstrbq_s8(out, vdupq_n_s8(9));
  // Loads and stores only lanes 0 to 4. In assembly, because GCC 12.2 loses predicates of intrinsics.
  __asm__ volatile(
      "vctp.8 %2\n"
      "vpst\n"
      "vldrbt.8 q0, [%1]\n"
      "vpst\n"
      "vstrbt.8 q0, [%0]\n" ::"r"(out),
      "r"(x), "r"(5)
      : "q0", "memory", "cc");
  for (int i = 0; i < 16; ++i) {
    if (out[i] != (i < 5 ? x[i] : 9)) {
      return false;
    }
  }
  return true;
}

bool all_lanes(int32x4_t vector, std::int32_t value) {
  return vgetq_lane_s32(vector, 0) == value && vgetq_lane_s32(vector, 1) == value &&
         vgetq_lane_s32(vector, 2) == value && vgetq_lane_s32(vector, 3) == value;
}

bool requantisation() {
  constexpr std::int32_t kMin = INT32_MIN, kMax = INT32_MAX;
  const int32x4_t thousand = vdupq_n_s32(opaque(1000));
  return all_lanes(vqrdmulhq_n_s32(thousand, opaque(0x40000000)), 500) &&
         all_lanes(vqrdmulhq_s32(thousand, vdupq_n_s32(opaque(0x40000000))), 500) &&
         all_lanes(vqrdmulhq_n_s32(vdupq_n_s32(opaque(kMin)), opaque(kMin)), kMax) &&
         all_lanes(vqdmulhq_n_s32(vdupq_n_s32(opaque(3)), opaque(0x20000000)), 0) &&
         all_lanes(vrshlq_s32(vdupq_n_s32(opaque(1003)), vdupq_n_s32(opaque(-2))), 251) &&
         all_lanes(vrshlq_s32(vdupq_n_s32(opaque(-3)), vdupq_n_s32(opaque(-1))), -1) &&
         all_lanes(vmaxq_s32(thousand, vdupq_n_s32(opaque(1001))), 1001) &&
         all_lanes(vminq_s32(thousand, vdupq_n_s32(opaque(-1))), -1);
}

bool narrowing() {
  const int16x8_t zero = vdupq_n_s16(opaque<std::int16_t>(0));
  const int16x8_t bottom = vqrshrnbq_n_s32(zero, vdupq_n_s32(opaque(0x12348)), 4);
  const int16x8_t top = vqrshrntq_n_s32(zero, vdupq_n_s32(opaque(0x7fffffff)), 4);
  const int16x8_t moved = vqmovnbq_s32(zero, vdupq_n_s32(opaque(-40000)));
  return vgetq_lane_s16(bottom, 0) == 0x1235 && vgetq_lane_s16(bottom, 6) == 0x1235 &&
         vgetq_lane_s16(bottom, 1) == 0 && vgetq_lane_s16(top, 1) == 0x7fff &&
         vgetq_lane_s16(top, 0) == 0 && vgetq_lane_s16(moved, 2) == -32768;
}

bool gather_and_scatter() {
  alignas(16) std::int8_t out[16];
  const uint8x16_t back = vsubq_u8(vdupq_n_u8(15), vidupq_n_u8(opaque(0u), 1));
  vstrbq_scatter_offset_s8(out, back, vldrbq_gather_offset_s8(x, back));
  for (int i = 0; i < 16; ++i) {
    if (out[i] != x[i]) {
      return false;
    }
  }
  const int8x16_t reversed = vldrbq_gather_offset_s8(x, back);
  return vgetq_lane_s8(reversed, 0) == x[15] && vgetq_lane_s8(reversed, 15) == x[0];
}

// A 64-bit value is a pair of an even and an odd register.
bool long_shifts() {
  register std::uint32_t low __asm__("r4") = opaque(0x80000001u);
  register std::uint32_t high __asm__("r5") = opaque(3u);
  __asm__ volatile("lsll %0, %1, #4" : "+r"(low), "+r"(high)::"cc");
  if (low != 0x00000010 || high != 0x00000038) {
    return false;
  }
  low = opaque(0x00000100u);
  high = opaque(0xffffff00u);
  __asm__ volatile("asrl %0, %1, #8" : "+r"(low), "+r"(high)::"cc");
  return low == 1 && high == 0xffffffff;
}

}  // namespace

int main() {
  for (int i = 0; i < kCount; ++i) {
    x[i] = static_cast<std::int8_t>(i * 9 - 100);
    y[i] = static_cast<std::int8_t>(77 - i * 5);
  }
  struct Group {
    const char* name;
    bool (*right)();
  };
  constexpr Group kGroups[] = {
      {"cset, csetm, csel with zr: ", conditional_select},
      {"vmladava, vaddva: ", multiply_accumulate_across},
      {"wlstp, letp: ", tail_predicated_loop},
      {"dls, le: ", low_overhead_loop},
      {"vctp, vpst: ", predicates},
      {"vqrdmulh, vrshl: ", requantisation},
      {"vqrshrn, vqmovn: ", narrowing},
      {"gather, scatter: ", gather_and_scatter},
      {"lsll, asrl: ", long_shifts},
  };
  for (const Group& group : kGroups) {
    print(group.name);
    check(group.right());
  }
  return failures;
}
