#include "runtime/kernels/common/delay_line.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_delay_line_write(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::DelayLineWriteArgs*>(args);
  DelayLine<payload::DelayLineWriteArgs> line(a, bases);
  if (!line.is_valid()) {
    return Error::InvalidState;
  }
  const auto* input = bases.resolve<const std::uint8_t>(a.input);
  const std::int32_t place = line.place_of(0);
  const std::int32_t first = line.together(place, a.count);
  line.write(place, input, first);
  if (first < a.count) {
    line.write(0, input + first * a.row_bytes, a.count - first);
  }
  line.begin_at(line.wrapped(place + a.count));
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kDelayLineWrite> kDelayLineWrite =
    Kernel(operators::kDelayLineWrite, run_delay_line_write);

}  // namespace cmsis_nn_delegate::portable
