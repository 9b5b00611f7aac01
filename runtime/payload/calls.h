// Iterates over the calls of a payload.
#pragma once

#include <cstdint>

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate {

/// One call, where it lies in the payload.
struct Call : payload::CallHeader {
  Call(const Call&) = delete;  // a copy would not have the arguments
  Call& operator=(const Call&) = delete;

  /// The argument block of its operator.
  const void* args() const { return this + 1; }
};
static_assert(sizeof(Call) == sizeof(payload::CallHeader), "a view of what lies in the payload");

/// For loops: `for (const Call& call : payload.calls())`. Borrows the payload.
class Calls {
 public:
  class Iterator {
   public:
    explicit Iterator(const std::uint8_t* at) : at_(at) {}
    const Call& operator*() const { return *reinterpret_cast<const Call*>(at_); }
    /// Advances by the size that the call states.
    Iterator& operator++() {
      at_ += (**this).bytes;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const std::uint8_t* at_;
  };

  /// To iterate from begin() to end(), the `bytes` at `first` must be checked calls.
  Calls(const std::uint8_t* first, std::uint32_t bytes) : begin_(first), end_(first + bytes) {}

  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }

 private:
  const std::uint8_t* begin_;
  const std::uint8_t* end_;
};

}  // namespace cmsis_nn_delegate
