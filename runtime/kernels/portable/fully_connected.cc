#include "runtime/kernels/portable/linear.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {

Error run_fully_connected(const void* args, std::uint8_t* const* bases) {
  const auto& a = *static_cast<const payload::FullyConnectedArgs*>(args);
  const auto* multiplier = resolve<const std::int32_t>(bases, a.multiplier);
  const auto* shift = resolve<const std::int32_t>(bases, a.shift);
  linear(a, bases, [&](std::int32_t sum, std::int32_t channel) {
    return requantize(sum, multiplier[channel], shift[channel]);
  });
  return Error::Ok;
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
