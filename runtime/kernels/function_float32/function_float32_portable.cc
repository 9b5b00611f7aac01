#include "runtime/kernels/common/float_math.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::FunctionFloat32Args;

/// As PyTorch: where low is above high, all become high.
float clamped(float x, float low, float high) {
  const float raised = x < low ? low : x;
  return raised > high ? high : raised;
}

// In the order of FUNCTIONS in aot/cmsis_nn_delegate/ops/function_float32.py, with the numbers a and b of the block.
using Function = float (*)(float x, float a, float b);
constexpr Function kFunctions[] = {
    /* clamp */ clamped,
    /* leaky_relu */ [](float x, float a, float) { return x > 0 ? x : a * x; },
    /* abs */ [](float x, float, float) { return real::absolute(x); },
    /* neg */ [](float x, float, float) { return -x; },
    /* reciprocal */ [](float x, float, float) { return 1.0f / x; },
    /* square */ [](float x, float, float) { return x * x; },
    /* cube */ [](float x, float, float) { return x * x * x; },
    /* sqrt */ [](float x, float, float) { return real::sqrt(x); },
    /* rsqrt */
    [](float x, float, float) { return x < 0 ? real::not_a_number() : 1.0f / real::sqrt(x); },
    /* exp */ [](float x, float, float) { return real::exp(x); },
    /* log */ [](float x, float, float) { return real::log(x); },
    /* sigmoid */ [](float x, float, float) { return real::sigmoid(x); },
    /* tanh */ [](float x, float, float) { return real::tanh(x); },
    /* erf */ [](float x, float, float) { return real::erf(x); },
    /* gelu */
    [](float x, float, float) { return 0.5f * x * real::erfc(x * -0.7071067811865476f); },
    /* gelu_tanh */
    [](float x, float, float) {
      const float inner = 0.7978845608028654f * (x + 0.044715f * x * x * x);
      return x * real::sigmoid(inner + inner);
    },
    /* silu */ [](float x, float, float) { return x * real::sigmoid(x); },
    /* hardsigmoid */ [](float x, float, float) { return clamped(x + 3.0f, 0.0f, 6.0f) / 6.0f; },
    /* hardswish */ [](float x, float, float) { return x * clamped(x + 3.0f, 0.0f, 6.0f) / 6.0f; },
    /* elu */ [](float x, float a, float) { return x > 0 ? x : a * real::expm1(x); },
    /* softplus */ [](float x, float, float) { return real::softplus(x); },
    /* expm1 */ [](float x, float, float) { return real::expm1(x); },
    /* log1p */ [](float x, float, float) { return real::log1p(x); },
    /* log2 */ [](float x, float, float) { return real::log(x) * 1.4426950408889634f; },
    /* log10 */ [](float x, float, float) { return real::log(x) * 0.4342944819032518f; },
};

}  // namespace

Error run_function_float32(const void* args, const Bases& bases) {
  const Args& a = *static_cast<const Args*>(args);
  const auto* const input = bases.resolve<const float>(a.input);
  auto* const output = bases.resolve<float>(a.output);
  const Function function = kFunctions[a.function];
  for (std::int32_t i = 0; i < a.count; ++i) {
    output[i] = function(input[i], a.a, a.b);
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kFunctionFloat32> kFunctionFloat32 =
    Kernel(operators::kFunctionFloat32, run_function_float32).in_place();

}  // namespace cmsis_nn_delegate::portable
