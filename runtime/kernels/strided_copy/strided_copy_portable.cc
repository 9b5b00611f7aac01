#include <cstddef>
#include <cstring>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

void copy_row(const std::int8_t* in, std::int8_t* out, const payload::CopyAxis& axis) {
  if (axis.output_stride == 1 && axis.input_stride == 1) {
    std::memcpy(out, in, static_cast<std::size_t>(axis.size));
    return;
  }
  if (axis.output_stride == 1 && axis.input_stride == 0) {
    std::memset(out, *in, static_cast<std::size_t>(axis.size));
    return;
  }
  for (std::int32_t left = axis.size;;) {
    *out = *in;
    if (--left == 0) {
      return;
    }
    in += axis.input_stride;
    out += axis.output_stride;
  }
}

}  // namespace

Error run_strided_copy(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::StridedCopyArgs*>(args);
  const auto* in = bases.resolve<const std::int8_t>(a.input) + a.input_offset;
  auto* out = bases.resolve<std::int8_t>(a.output) + a.output_offset;

  const payload::CopyAxis* const outer[] = {&a.axis0, &a.axis1, &a.axis2, &a.axis3, &a.axis4};
  std::int32_t done[] = {0, 0, 0, 0, 0};
  for (;;) {
    copy_row(in, out, a.axis5);
    // The next step of the innermost axis that has one; those inside of it start again. Pointers
    // never leave their tensors.
    int axis = 4;
    while (++done[axis] == outer[axis]->size) {
      done[axis] = 0;
      in -= (outer[axis]->size - 1) * outer[axis]->input_stride;
      out -= (outer[axis]->size - 1) * outer[axis]->output_stride;
      if (--axis < 0) {
        return Error::Ok;
      }
    }
    in += outer[axis]->input_stride;
    out += outer[axis]->output_stride;
  }
}

constexpr KernelOf<payload::Opcode::kStridedCopy> kStridedCopy =
    Kernel(operators::kStridedCopy, run_strided_copy);

}  // namespace cmsis_nn_delegate::portable
