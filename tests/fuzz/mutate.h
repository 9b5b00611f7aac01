// Changes a payload so that the result is often still valid, but close to invalid.
//
// libFuzzer, the replay on the host and the sweep on simulated devices all use this code. No heap, no libc
// beyond memcpy, memmove and memset.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::fuzz {

/// The maximum size of a mutated payload.
inline constexpr std::size_t kMaxPayloadBytes = 1 << 15;

/// Changes the payload of `size` bytes in `data`, 16-byte aligned with room for `capacity`, in one or a few
/// steps that `seed` determines. Returns the new size. With rare exceptions, the result has the instruction set
/// of `kernels`, consistent sizes, and a correct CRC. A payload that cannot be edited (because its header is
/// damaged) is only given these.
///
/// `donor`, if not null, is another payload (`donor_size` bytes, 16-byte aligned), whose calls may be copied;
/// it is not changed.
std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t capacity, std::uint32_t seed,
                   const KernelTable& kernels, std::uint8_t* donor = nullptr,
                   std::size_t donor_size = 0);

/// Sets the identity that `kernels` require, sizes and CRC of a payload. `size` is at least that of a header.
void repair(std::uint8_t* data, std::size_t size, const KernelTable& kernels);

}  // namespace cmsis_nn_delegate::fuzz
