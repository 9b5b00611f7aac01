// What C++ with calls of its own needs besides kernels: references as constants, and base addresses.
// `cmsisnn compile --emit cpp` writes such C++: NAME.model.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/payload/bases.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::direct {

constexpr payload::Ref ref(unsigned base, std::size_t offset) {
  return static_cast<payload::Ref>(base) << payload::kRefOffsetBits |
         static_cast<payload::Ref>(offset);
}

/// Names what lies `offset` bytes behind the start of the arena.
constexpr payload::Ref arena(std::size_t offset) { return ref(payload::kBaseArena, offset); }

/// Names what lies `offset` bytes behind the start of the call's constants.
constexpr payload::Ref constant(std::size_t offset) { return ref(payload::kBaseConstant, offset); }

/// Names a part of an input or output: inputs come first, then outputs, then the state.
constexpr payload::Ref tensor(unsigned index, std::size_t offset = 0) {
  return ref(payload::kBaseIo + index, offset);
}

/// Returns the address of `data` as Bases has it. Kernels do not write to constants and inputs.
template <typename T>
std::uint8_t* base(const T* data) {
  return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(data));
}

}  // namespace cmsis_nn_delegate::direct
