// Memory that ends where a buffer ends, by the core's memory protection unit.
//
// A slot is kSlotBytes of memory that may be used, and a gap of the same size after them that may not be
// touched. A buffer at the end of its slot is followed by the gap at once; a kernel that reads or writes one
// byte further faults. Where the unit can (Armv8-M), a slot may also be read-only, and everything but the
// slots, the image's own memory and the UART is out of bounds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cmsis_nn_delegate {
namespace fuzz {

inline constexpr std::size_t kSlotBytes = 1 << 16;
/// As many as there are regions in the smallest unit.
inline constexpr unsigned kSlots = 8;

/// The end of slot `index`.
std::uint8_t* slot_end(unsigned index);

/// The buffer of `bytes` <= kSlotBytes at the end of the slot.
inline std::uint8_t* at_end(unsigned index, std::size_t bytes) { return slot_end(index) - bytes; }

/// Guards on. Slots whose bit in `read_only` is set may not be written to.
void guard(std::uint32_t read_only);

/// Everything may be used again.
void unguard();

}  // namespace fuzz
}  // namespace cmsis_nn_delegate
