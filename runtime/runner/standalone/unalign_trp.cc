// Sets CCR.UNALIGN_TRP before main(), as firmware might: see unalign_trp_test.py.
#include <cstdint>

namespace {

[[gnu::constructor]] void trap_unaligned_accesses() {
  *reinterpret_cast<volatile std::uint32_t*>(0xE000ED14) |= 1u << 3;
  asm volatile("dsb\n\tisb" ::: "memory");
}

}  // namespace
