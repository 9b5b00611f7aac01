// The larger or the smaller one of two elements, for rows of any type.
#pragma once

#include <executorch/runtime/core/error.h>

#include <cstdint>

namespace cmsis_nn_delegate::portable {

template <typename Element, bool kLargest>
executorch::runtime::Error extremum_row(const void* /*args*/, const Element* input1,
                                        const Element* input2, Element* output,
                                        std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) {
    const bool second = kLargest ? input2[i] > input1[i] : input2[i] < input1[i];
    output[i] = second ? input2[i] : input1[i];
  }
  return executorch::runtime::Error::Ok;
}

}  // namespace cmsis_nn_delegate::portable
