// Memory that ends where a buffer ends, with the core's memory protection unit.
//
// A slot is kSlotBytes of accessible memory followed by an inaccessible gap of the same size. A buffer is at the
// end of its slot, directly before the gap, so a kernel that reads or writes one more byte faults. On Armv8-M, a
// slot may also be read-only, and everything except the slots, the image's own memory and the UART is
// inaccessible.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cmsis_nn_delegate::fuzz {

inline constexpr std::size_t kSlotBytes = 1 << 16;
/// The number of regions of the smallest unit.
inline constexpr unsigned kSlots = 8;

/// Returns the end of slot `index`.
std::uint8_t* slot_end(unsigned index);

/// Returns the buffer of `bytes` <= kSlotBytes at the end of the slot.
inline std::uint8_t* at_end(unsigned index, std::size_t bytes) { return slot_end(index) - bytes; }

/// Turns the guards on. Slots whose bit in `read_only` is set are read-only.
void guard(std::uint32_t read_only);

/// Turns the guards off: all memory is accessible again.
void unguard();

}  // namespace cmsis_nn_delegate::fuzz
