// Arithmetic for checking sizes and references of a payload: nothing here overflows,
// divides or loops.
#pragma once

#include <cstdint>

#include "runtime/payload/view.h"

namespace cmsis_nn_delegate {
namespace bounds {

/// More bytes than any reference can reach: the size of everything that is too large.
inline constexpr std::uint32_t kTooLarge = 0xFFFFFFFF;

/// a * b, or kTooLarge. Negative dimensions, converted to unsigned, become too large; a
/// product of 0 is refused wherever it is used as a size.
inline std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t wide = static_cast<std::uint64_t>(a) * b;
  return wide > payload::kMaxRefOffset ? kTooLarge : static_cast<std::uint32_t>(wide);
}

/// Whether `value` is in [low, high].
inline bool in_range(std::int32_t value, std::int32_t low, std::int32_t high) {
  return static_cast<std::uint32_t>(value) - static_cast<std::uint32_t>(low) <=
         static_cast<std::uint32_t>(high) - static_cast<std::uint32_t>(low);
}

/// Whether [offset, offset + bytes) lies in [0, size) and offset is a multiple of 16.
inline bool section_fits(std::uint32_t offset, std::uint32_t bytes, std::uint32_t size) {
  return offset % payload::kAlignment == 0 && offset <= size && bytes <= size - offset;
}

enum class Access : std::uint8_t { kRead, kWrite };

/// Whether `ref` names `bytes` > 0 bytes, aligned to `alignment`, a power of two <= 16, of
/// something that exists: the arena, the constants (read only), an input (read only) or an
/// output. The header and the tensors of `view` must have been checked.
[[nodiscard]] bool reference_fits(const PayloadView& view, payload::Ref ref, std::uint32_t bytes,
                                  std::uint32_t alignment, Access access);

}  // namespace bounds
}  // namespace cmsis_nn_delegate
