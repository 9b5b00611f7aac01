// What references count from.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate {

/// The base addresses of one execution: where the arena, the payload, the inputs and the outputs lie.
/// `Bases bases = {};` has null for each; `Bases bases;` leaves them unset, which saves the time of
/// ten calls where every base that a reference names is set afterwards.
class Bases {
 public:
  Bases() = default;

  /// `base` is kBaseArena, kBaseConstant, kBaseNone, or kBaseIo + the number of an input or output.
  std::uint8_t*& operator[](std::size_t base) { return addresses_[base]; }
  std::uint8_t* operator[](std::size_t base) const { return addresses_[base]; }

  /// The data that `ref` names, or nullptr for payload::kNoRef. Nothing keeps a kernel from writing
  /// to inputs and constants but that validation lets no output lie there.
  template <typename T>
  T* resolve(payload::Ref ref) const {
    return reinterpret_cast<T*>(addresses_[ref >> payload::kRefOffsetBits] +
                                (ref & payload::kMaxRefOffset));
  }

 private:
  std::uint8_t* addresses_[payload::kBaseCount];
};

}  // namespace cmsis_nn_delegate
