#include "runtime/kernels/portable/broadcast.h"

#include <cstddef>
#include <cstring>

namespace cmsis_nn_delegate {
namespace portable {
namespace {

using executorch::runtime::Error;
using payload::Dims;

// How many copies of a repeated element a row gets at a time: enough to make the rest of a call cheap,
// little on the stack.
constexpr std::int32_t kCopies = 64;

/// How far the next element along a dimension is; 0 if the operand is repeated along it.
struct Strides {
  std::int32_t n, h, w;

  explicit Strides(const Dims& d)
      : n(d.n == 1 ? 0 : d.h * d.w * d.c), h(d.h == 1 ? 0 : d.w * d.c), w(d.w == 1 ? 0 : d.c) {}
};

}  // namespace

Error for_each_row(const BroadcastTensors& t, const void* args, Row row) {
  const Dims& dims = *t.output_dims;
  const Strides strides1(*t.input1_dims);
  const Strides strides2(*t.input2_dims);
  const bool repeats1 = t.input1_dims->c != dims.c;
  const bool repeats2 = t.input2_dims->c != dims.c;  // then input 1 is not repeated
  const std::int32_t at_a_time = (repeats1 || repeats2) && dims.c > kCopies ? kCopies : dims.c;
  std::int8_t copies[kCopies];
  std::int8_t* output = t.output;
  for (std::int32_t n = 0; n < dims.n; ++n) {
    for (std::int32_t h = 0; h < dims.h; ++h) {
      const std::int8_t* input1 = t.input1 + n * strides1.n + h * strides1.h;
      const std::int8_t* input2 = t.input2 + n * strides2.n + h * strides2.h;
      for (std::int32_t w = 0; w < dims.w; ++w) {
        if (repeats1 || repeats2) {
          std::memset(copies, repeats1 ? *input1 : *input2, static_cast<std::size_t>(at_a_time));
        }
        for (std::int32_t c = 0; c < dims.c; c += at_a_time) {
          const std::int32_t left = dims.c - c;
          const Error error =
              row(args, repeats1 ? copies : input1 + c, repeats2 ? copies : input2 + c, output,
                  left < at_a_time ? left : at_a_time);
          if (error != Error::Ok) {
            return error;
          }
          output += left < at_a_time ? left : at_a_time;
        }
        input1 += strides1.w;
        input2 += strides2.w;
      }
    }
  }
  return Error::Ok;
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
