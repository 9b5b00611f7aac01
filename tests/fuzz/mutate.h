// Changes a payload so that what comes out is often still valid, and then at the edge of what is.
//
// The one place that knows how: libFuzzer, the replay on the host and the sweep on simulated devices
// call it. No heap, no libc beyond memcpy, memmove and memset.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate {
namespace fuzz {

/// The most bytes that a mutated payload gets.
inline constexpr std::size_t kMaxPayloadBytes = 1 << 15;

/// Changes the payload of `size` bytes in `data`, 16-byte aligned with room for `capacity`, by one to
/// a few steps that `seed` decides. Returns the new size. The result has, with rare exceptions, an instruction
/// set that `kernels` take, sizes that agree, and its CRC. What cannot be edited (a damaged header)
/// only gets the latter.
///
/// `donor`, if not null, is another payload (`donor_size` bytes, 16-byte aligned), whose calls may
/// be taken over; it is not changed.
std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t capacity, std::uint32_t seed,
                   const KernelTable& kernels, std::uint8_t* donor = nullptr,
                   std::size_t donor_size = 0);

/// Gives a payload the identity that `kernels` ask for, sizes and CRC. `size` is at least that of a header.
void repair(std::uint8_t* data, std::size_t size, const KernelTable& kernels);

}  // namespace fuzz
}  // namespace cmsis_nn_delegate
