// Frames on a serial line that may lose, change and add bytes.
//
// A frame is  flag | type | sequence | data | CRC-32, little-endian | flag. Between the flags, bytes that are a flag or
// an escape are sent as an escape and the byte with bit 5 inverted, as in HDLC's asynchronous framing (RFC 1662). So a
// flag always is one: whatever came before it, the next frame is understood. The CRC-32 is that of payloads, of type,
// sequence and data. aot/cmsis_nn_delegate/serial_line/frame.py is the other end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/payload/crc32.h"

namespace cmsis_nn_delegate::runner::serial {

inline constexpr std::uint8_t kFlag = 0x7e;
inline constexpr std::uint8_t kEscape = 0x7d;
inline constexpr std::uint8_t kEscapedBit = 0x20;

/// The most bytes of data in a frame, in both directions.
inline constexpr std::size_t kMaxData = 1024;

/// A frame without what guards it. `data` is valid until the reader gets another byte.
struct Frame {
  std::uint8_t type;
  std::uint8_t sequence;
  const std::uint8_t* data;
  std::size_t size;
};

/// Finds the frames in what a line delivers.
class FrameReader {
 public:
  /// Takes the next byte. Returns whether it ends a frame that is whole; frame() then is it.
  [[nodiscard]] bool take(std::uint8_t byte);

  [[nodiscard]] const Frame& frame() const { return frame_; }

 private:
  static constexpr std::size_t kHead = 2;  // type and sequence
  static constexpr std::size_t kCrc = 4;

  bool whole();

  std::uint8_t bytes_[kHead + kMaxData + kCrc] = {};
  std::size_t size_ =
      0;  // of what came since the last flag; more than bytes_ holds if it is too long
  bool escaped_ = false;
  Frame frame_ = {};
};

/// Sends a frame byte by byte with `put(std::uint8_t)`.
template <typename Put>
void write_frame(const Frame& frame, Put put) {
  const auto guarded = [&put](std::uint8_t byte) {
    if (byte == kFlag || byte == kEscape) {
      put(kEscape);
      byte ^= kEscapedBit;
    }
    put(byte);
  };
  const std::uint8_t head[] = {frame.type, frame.sequence};
  const std::uint32_t crc = crc32(frame.data, frame.size, crc32(head, sizeof(head)));
  put(kFlag);
  guarded(frame.type);
  guarded(frame.sequence);
  for (std::size_t i = 0; i < frame.size; ++i) {
    guarded(frame.data[i]);
  }
  for (int shift = 0; shift < 32; shift += 8) {
    guarded(static_cast<std::uint8_t>(crc >> shift));
  }
  put(kFlag);
}

}  // namespace cmsis_nn_delegate::runner::serial
