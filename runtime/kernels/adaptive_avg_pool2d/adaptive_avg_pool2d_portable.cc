#include "runtime/kernels/common/average.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

/// The positions [begin, end) of one axis that window `index` of `count` averages: at least one.
struct Span {
  std::int32_t begin;
  std::int32_t end;

  static Span of(std::int32_t index, std::int32_t size, std::int32_t count) {
    return {index * size / count, ((index + 1) * size + count - 1) / count};
  }
};

}  // namespace

Error run_adaptive_avg_pool2d(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::AdaptiveAvgPool2dArgs*>(args);
  const payload::Dims& in = a.input_dims;
  const payload::Dims& out = a.output_dims;
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  auto* output = bases.resolve<std::int8_t>(a.output);

  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Span rows = Span::of(y, in.h, out.h);
      for (std::int32_t x = 0; x < out.w; ++x) {
        const Span columns = Span::of(x, in.w, out.w);
        average(input + (rows.begin * in.w + columns.begin) * in.c, rows.end - rows.begin,
                columns.end - columns.begin, in.w * in.c, in.c, a.activation, output);
        output += in.c;
      }
    }
    input += in.h * in.w * in.c;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kAdaptiveAvgPool2d> kAdaptiveAvgPool2d =
    Kernel(operators::kAdaptiveAvgPool2d, run_adaptive_avg_pool2d);

}  // namespace cmsis_nn_delegate::portable
