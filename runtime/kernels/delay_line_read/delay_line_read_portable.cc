#include "runtime/kernels/common/delay_line.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_delay_line_read(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::DelayLineReadArgs*>(args);
  const DelayLine<payload::DelayLineReadArgs> line(a, bases);
  if (!line.is_valid()) {
    return Error::InvalidState;
  }
  auto* output = bases.resolve<std::uint8_t>(a.output);
  std::int32_t place = line.place_of(a.first);
  for (std::int32_t left = a.count; left > 0;) {
    const std::int32_t count = a.step == 1 ? line.together(place, left) : 1;
    line.read(place, output, count);
    output += count * a.row_bytes;
    left -= count;
    place = line.wrapped(place + (a.step == 1 ? count : a.step));
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kDelayLineRead> kDelayLineRead =
    Kernel(operators::kDelayLineRead, run_delay_line_read);

}  // namespace cmsis_nn_delegate::portable
