// Copies the last step of each of several sequences.
#pragma once

#include <cstring>

#include "runtime/kernels/common/sequence_lengths.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

template <typename Element, typename Args>
Error copy_last_steps(const Args& a, const Bases& bases) {
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);
  for (std::int32_t batch = 0; batch < a.batch; ++batch) {
    const std::int32_t length = length_of(a, bases, batch);
    if (length == 0) {
      return Error::InvalidArgument;
    }
    const std::int32_t row =
        a.batch_first != 0 ? batch * a.steps + length - 1 : (length - 1) * a.batch + batch;
    std::memcpy(output + batch * a.width, input + row * a.width,
                static_cast<std::size_t>(a.width) * sizeof(Element));
  }
  return Error::Ok;
}

}  // namespace cmsis_nn_delegate::portable
