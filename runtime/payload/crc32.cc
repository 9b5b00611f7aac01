#include "runtime/payload/crc32.h"

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate {
namespace {

constexpr std::uint32_t kTable[16] = {
    0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
    0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
};

}  // namespace

std::uint32_t crc32(const void* data, std::size_t size, std::uint32_t previous) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  std::uint32_t crc = ~previous;
  for (std::size_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    crc = kTable[crc & 15] ^ (crc >> 4);
    crc = kTable[crc & 15] ^ (crc >> 4);
  }
  return ~crc;
}

std::uint32_t payload_crc32(const void* payload, std::size_t size) {
  constexpr std::size_t kField = offsetof(payload::Header, crc32);
  constexpr std::size_t kBehind = kField + sizeof(payload::Header::crc32);
  constexpr std::uint8_t kZero[sizeof(payload::Header::crc32)] = {};
  const auto* bytes = static_cast<const std::uint8_t*>(payload);
  std::uint32_t crc = crc32(bytes, kField);
  crc = crc32(kZero, sizeof(kZero), crc);
  return crc32(bytes + kBehind, size - kBehind, crc);
}

}  // namespace cmsis_nn_delegate
