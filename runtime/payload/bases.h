// The base addresses that references are relative to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate {

/// The base addresses of one execution: where the arena, the payload, the inputs, the outputs, the
/// persistent memory, the copied constants and the regions beside the arena lie.
/// `Bases bases = {};` sets each to null. `Bases bases;` leaves them unset, which saves as much time as
/// ten calls take outside of their kernels; the caller then sets every base that a reference names.
class Bases {
 public:
  Bases() = default;

  /// `base` is kBaseArena, kBaseConstant, kBaseNone, or kBaseIo + the number of an input or output;
  /// those of PayloadView::persistent_base(), copies_base() and region_base() follow.
  std::uint8_t*& operator[](std::size_t base) { return addresses_[base]; }
  std::uint8_t* operator[](std::size_t base) const { return addresses_[base]; }

  /// Returns the data that `ref` names, or nullptr for payload::kNoRef. It does not keep a kernel from
  /// writing to inputs and constants; validation does, by letting no output lie there.
  template <typename T>
  T* resolve(payload::Ref ref) const {
    return reinterpret_cast<T*>(addresses_[ref >> payload::kRefOffsetBits] +
                                (ref & payload::kMaxRefOffset));
  }

 private:
  std::uint8_t* addresses_[payload::kBaseCount];
};

}  // namespace cmsis_nn_delegate
