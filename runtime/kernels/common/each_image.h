// The images of a call, for kernels that compute one at a time from a table of weights.
#pragma once

#include <cstdint>

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::portable {

/// Calls computed.run(image, output, table) for each image of a call.
template <typename Element, typename Args, typename Computed>
[[gnu::always_inline]] inline void for_each_image(const Args& a, const Bases& bases,
                                                  Computed& computed) {
  const auto* image = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);
  const auto* table = bases.resolve<const std::int32_t>(a.table);
  for (std::int32_t n = 0; n < a.output_dims.n; ++n) {
    computed.run(image, output, table);
    image += a.input_dims.h * a.input_dims.w * a.input_dims.c;
    output += a.output_dims.h * a.output_dims.w * a.output_dims.c;
  }
}

}  // namespace cmsis_nn_delegate::portable
