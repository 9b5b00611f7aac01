#include <cstddef>
#include <cstring>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

constexpr std::int32_t kFill = -1;

// The modes, as PadNdArgs numbers them.
constexpr std::int32_t kConstant = 0;
constexpr std::int32_t kReflect = 1;
constexpr std::int32_t kReplicate = 2;

/// Which element lies at `position` of a dimension of `size` elements, or kFill.
std::int32_t element_at(std::int32_t position, std::int32_t size, std::int32_t mode) {
  if (position >= 0 && position < size) {
    return position;
  }
  switch (mode) {
    case kConstant:
      return kFill;
    case kReflect:
      return position < 0 ? -position : 2 * (size - 1) - position;
    case kReplicate:
      return position < 0 ? 0 : size - 1;
    default: {
      const std::int32_t rest = position % size;
      return rest < 0 ? rest + size : rest;
    }
  }
}

std::int8_t* fill_rows(std::int8_t* out, std::int32_t elements, std::int32_t fill) {
  std::memset(out, static_cast<int>(fill), static_cast<std::size_t>(elements));
  return out + elements;
}

/// Writes the innermost axis, and returns the end of what it wrote; `in` is where its input starts.
std::int8_t* pad_innermost(const std::int8_t* in, std::int8_t* out, const payload::PadNdArgs& a) {
  const payload::PadAxis& axis = a.axis5;
  for (std::int32_t i = 0; i < axis.output_size;) {
    const std::int32_t position = i - axis.before;
    const std::int32_t element = element_at(position, axis.input_size, a.mode);
    // Rows of the input, and rows of the constant, come together.
    std::int32_t rows = 1;
    if (element == kFill) {
      rows = position < 0 ? -position : axis.output_size;
    } else if (element == position) {
      rows = axis.input_size - position;
    }
    const std::int32_t left = axis.output_size - i;
    rows = rows < left ? rows : left;
    if (element == kFill) {
      out = fill_rows(out, rows * a.row_size, a.fill);
    } else {
      std::memcpy(out, in + element * a.row_size, static_cast<std::size_t>(rows * a.row_size));
      out += rows * a.row_size;
    }
    i += rows;
  }
  return out;
}

}  // namespace

Error run_pad_nd(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::PadNdArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  auto* out = bases.resolve<std::int8_t>(a.output);

  const payload::PadAxis* const outer[] = {&a.axis0, &a.axis1, &a.axis2, &a.axis3, &a.axis4};
  std::int32_t done[] = {0, 0, 0, 0, 0};
  for (;;) {
    // Where the innermost axis starts in the input, unless all of it is the constant.
    std::int32_t row = 0;
    bool filled = false;
    for (unsigned i = 0; i < 5; ++i) {
      const payload::PadAxis& axis = *outer[i];
      const std::int32_t element = element_at(done[i] - axis.before, axis.input_size, a.mode);
      filled = filled || element == kFill;
      row = row * axis.input_size + element;
    }
    out = filled ? fill_rows(out, a.axis5.output_size * a.row_size, a.fill)
                 : pad_innermost(input + row * a.axis5.input_size * a.row_size, out, a);
    int axis = 4;
    while (++done[axis] == outer[axis]->output_size) {
      done[axis] = 0;
      if (--axis < 0) {
        return Error::Ok;
      }
    }
  }
}

constexpr KernelOf<payload::Opcode::kPadNd> kPadNd = Kernel(operators::kPadNd, run_pad_nd);

}  // namespace cmsis_nn_delegate::portable
