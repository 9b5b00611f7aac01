// CRC-32 of a payload.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cmsis_nn_delegate {

/// CRC-32 (IEEE 802.3: reflected polynomial 0xEDB88320, initial value and final xor all
/// ones) of `size` bytes. To continue, pass the result for the preceding bytes as `previous`.
///
/// Works on nibbles: it needs a table of 64 bytes and 11 instructions a byte on a Cortex-M4.
[[nodiscard]] std::uint32_t crc32(const void* data, std::size_t size, std::uint32_t previous = 0);

/// CRC-32 of a payload of at least sizeof(payload::Header) bytes, with its crc32 field taken
/// as 0. That field must hold the result.
[[nodiscard]] std::uint32_t payload_crc32(const void* payload, std::size_t size);

}  // namespace cmsis_nn_delegate
