#include "runtime/runner/serial/frame.h"

namespace cmsis_nn_delegate::runner::serial {

bool FrameReader::take(std::uint8_t byte) {
  if (byte == kFlag) {
    const bool found = whole();
    size_ = 0;
    escaped_ = false;
    return found;
  }
  if (byte == kEscape) {
    escaped_ = true;
    return false;
  }
  if (escaped_) {
    byte ^= kEscapedBit;
    escaped_ = false;
  }
  if (size_ < sizeof(bytes_)) {
    bytes_[size_] = byte;
  }
  if (size_ <= sizeof(bytes_)) {
    ++size_;
  }
  return false;
}

bool FrameReader::whole() {
  if (escaped_ || size_ < kHead + kCrc || size_ > sizeof(bytes_)) {
    return false;
  }
  const std::size_t end = size_ - kCrc;
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < kCrc; ++i) {
    crc |= std::uint32_t{bytes_[end + i]} << (8 * i);
  }
  if (crc != crc32(bytes_, end)) {
    return false;
  }
  frame_ = {bytes_[0], bytes_[1], bytes_ + kHead, end - kHead};
  return true;
}

}  // namespace cmsis_nn_delegate::runner::serial
