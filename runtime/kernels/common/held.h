// How states lie in persistent memory: as differences from their initial numbers, because that memory starts as zeros.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate {
namespace portable {

/// to[i] = from[i] + sign * initial[i] modulo 2^bits, for unsigned `Number`s; one initial number is for all. The operands
/// are apart.
template <typename Number, typename Args>
void copy_held(const Args& a, const Bases& bases, payload::Ref from, payload::Ref to, int sign) {
  const auto* source = bases.resolve<const Number>(from);
  auto* target = bases.resolve<Number>(to);
  const auto* initial = bases.resolve<const Number>(a.initial);
  if (a.initial_count == 1 && *initial == 0) {
    std::memcpy(target, source, static_cast<std::size_t>(a.count) * sizeof(Number));
    return;
  }
  const std::int32_t step = a.initial_count == 1 ? 0 : 1;
  for (std::int32_t i = 0; i < a.count; ++i) {
    target[i] = static_cast<Number>(source[i] + sign * *initial);
    initial += step;
  }
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
