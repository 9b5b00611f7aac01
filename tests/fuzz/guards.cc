#include "tests/fuzz/guards.h"

#include "platforms/bsp/bsp.h"

extern "C" {
extern unsigned char __text_start[];
extern unsigned char __data_start[];
extern unsigned char __stack_top[];
}

namespace cmsis_nn_delegate::fuzz {
namespace {

volatile std::uint32_t& reg(std::uintptr_t address) {
  return *reinterpret_cast<volatile std::uint32_t*>(address);
}

volatile std::uint32_t& mpu_ctrl() { return reg(0xE000ED94); }
volatile std::uint32_t& mpu_rnr() { return reg(0xE000ED98); }
volatile std::uint32_t& mpu_rbar() { return reg(0xE000ED9C); }
constexpr std::uint32_t kEnable = 1 << 0;

/// In the upper half of the mailbox; the job is in the lower half.
std::uintptr_t slot_start(unsigned index) {
  const auto start = reinterpret_cast<std::uintptr_t>(__mailbox_start);
  const auto end = reinterpret_cast<std::uintptr_t>(__mailbox_end);
  return start + (end - start) / 2 + index * 2 * kSlotBytes;
}

void apply(std::uint32_t ctrl) {
  mpu_ctrl() = ctrl;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
}

#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)

volatile std::uint32_t& mpu_rlar() { return reg(0xE000EDA0); }
volatile std::uint32_t& mpu_mair0() { return reg(0xE000EDC0); }

enum Access : std::uint32_t { kReadWrite = 0b00 << 1, kReadOnly = 0b10 << 1 };
enum Memory : std::uint32_t { kNormal = 0, kDevice = 1 };  // fields of MAIR0
constexpr std::uint32_t kNoCode = 1;

/// [start, end), both multiples of 32, for privileged code.
void set_region(unsigned number, std::uintptr_t start, std::uintptr_t end, std::uint32_t access,
                Memory memory) {
  mpu_rnr() = number;
  mpu_rbar() = static_cast<std::uint32_t>(start) | access;
  mpu_rlar() = static_cast<std::uint32_t>(end - 32) | memory << 1 | 1;
}

std::uintptr_t down(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) & ~std::uintptr_t{31};
}

#else

volatile std::uint32_t& mpu_rasr() { return reg(0xE000EDA0); }

#endif

}  // namespace

std::uint8_t* slot_end(unsigned index) {
  return reinterpret_cast<std::uint8_t*>(slot_start(index) + kSlotBytes);
}

#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)

// Memory outside all regions cannot be accessed. Regions must not overlap and cannot forbid access, so all
// accessible memory needs a region.
void guard(std::uint32_t read_only) {
  const auto code = down(__text_start);
  const auto ram = down(__data_start);
  mpu_mair0() = 0x0444;  // attribute 0: normal memory, 1: device
  set_region(0, code, code + (512 << 10), kReadOnly, kNormal);
  set_region(1, ram, down(__stack_top), kReadWrite | kNoCode, kNormal);
  set_region(2, 0x40000000, 0x60000000, kReadWrite | kNoCode, kDevice);
  for (unsigned i = 0; i < kSlots; ++i) {
    set_region(3 + i, slot_start(i), slot_start(i) + kSlotBytes,
               ((read_only >> i) & 1 ? kReadOnly : kReadWrite) | kNoCode, kNormal);
  }
  apply(kEnable);
}

#else

// Armv7-M: a region forbids access to each gap; the default map applies to everything else.
void guard(std::uint32_t /*read_only*/) {
  constexpr std::uint32_t kPrivilegedDefault = 1 << 2;
  constexpr std::uint32_t kSize = 15;  // 2^(15 + 1) bytes
  static_assert(kSlotBytes == std::size_t{1} << (kSize + 1), "the size of a gap");
  for (unsigned i = 0; i < kSlots; ++i) {
    mpu_rnr() = i;
    mpu_rbar() = static_cast<std::uint32_t>(slot_start(i) + kSlotBytes);
    mpu_rasr() = kSize << 1 | 1;  // AP 000: no access
  }
  apply(kEnable | kPrivilegedDefault);
}

#endif

void unguard() { apply(0); }

}  // namespace cmsis_nn_delegate::fuzz
