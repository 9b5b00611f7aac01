// Rows of a signal in persistent memory, as a ring. First the place of the oldest row, 4 bytes, then the rows, as held.h
// says.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/held.h"
#include "runtime/payload/bases.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable {

inline constexpr std::int32_t kPositionBytes = 4;

/// The line of the arguments of a call.
template <typename Args>
class DelayLine {
 public:
  DelayLine(const Args& args, const Bases& bases)
      : rows_(args.rows),
        row_bytes_(args.row_bytes),
        memory_(bases.resolve<std::uint8_t>(args.state)),
        initial_(bases.resolve<const std::uint8_t>(args.initial), args.initial_bytes,
                 args.rows * args.row_bytes) {
    std::memcpy(&oldest_, memory_, sizeof(oldest_));
  }

  /// Persistent memory may hold what another program has left there.
  bool is_valid() const { return oldest_ < static_cast<std::uint32_t>(rows_); }

  /// The place of row `number`, 0 to rows; row 0 is the oldest one.
  std::int32_t place_of(std::int32_t number) const {
    return wrapped(static_cast<std::int32_t>(oldest_) + number);
  }

  /// `place`, less than twice the rows, counted from the first place again after the last one.
  std::int32_t wrapped(std::int32_t place) const { return place < rows_ ? place : place - rows_; }

  /// How many of `count` rows from `place` on lie one after the other.
  std::int32_t together(std::int32_t place, std::int32_t count) const {
    return count < rows_ - place ? count : rows_ - place;
  }

  void read(std::int32_t place, std::uint8_t* target, std::int32_t count) const {
    copy_held(at(place), initial_, place * row_bytes_, target, count * row_bytes_);
  }

  void write(std::int32_t place, const std::uint8_t* source, std::int32_t count) {
    copy_held(source, initial_, place * row_bytes_, at(place), count * row_bytes_);
  }

  /// Makes the row at `place` the oldest one.
  void begin_at(std::int32_t place) {
    const auto oldest = static_cast<std::uint32_t>(place);
    std::memcpy(memory_, &oldest, sizeof(oldest));
  }

 private:
  std::uint8_t* at(std::int32_t place) const {
    return memory_ + kPositionBytes + place * row_bytes_;
  }

  std::int32_t rows_;
  std::int32_t row_bytes_;
  std::uint32_t oldest_;
  std::uint8_t* memory_;
  InitialBytes initial_;
};

}  // namespace cmsis_nn_delegate::portable
