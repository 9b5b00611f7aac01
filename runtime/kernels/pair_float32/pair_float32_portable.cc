#include "runtime/kernels/common/float_math.h"
// After it: the rows are walked as those of integers.
#include "runtime/kernels/common/broadcast_rows.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::PairFloat32Args;

// In the order of FUNCTIONS in aot/cmsis_nn_delegate/ops/pair_float32.py.
enum class PairFunction {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kGt,
  kGe,
  kLt,
  kLe,
  kEq,
  kNe,
  kKeep,
  kDrop
};

float compute(PairFunction function, float a, float b) {
  switch (function) {
    case PairFunction::kAdd:
      return a + b;
    case PairFunction::kSub:
      return a - b;
    case PairFunction::kMul:
      return a * b;
    case PairFunction::kDiv:
      return a / b;
    case PairFunction::kMax:
      return a > b ? a : b;
    case PairFunction::kMin:
      return a < b ? a : b;
    case PairFunction::kGt:
      return a > b ? 1.0f : 0.0f;
    case PairFunction::kGe:
      return a >= b ? 1.0f : 0.0f;
    case PairFunction::kLt:
      return a < b ? 1.0f : 0.0f;
    case PairFunction::kLe:
      return a <= b ? 1.0f : 0.0f;
    case PairFunction::kEq:
      return a == b ? 1.0f : 0.0f;
    case PairFunction::kNe:
      return a != b ? 1.0f : 0.0f;
    case PairFunction::kKeep:
      return a != 0.0f ? b : -0.0f;
    case PairFunction::kDrop:
      return a == 0.0f ? b : -0.0f;
  }
  return a;
}

Error compute_row(const void* args, const float* input1, const float* input2, float* output,
                  std::int32_t count) {
  const auto function = static_cast<PairFunction>(static_cast<const Args*>(args)->function);
  for (std::int32_t i = 0; i < count; ++i) {
    output[i] = compute(function, input1[i], input2[i]);
  }
  return Error::Ok;
}

}  // namespace

Error run_pair_float32(const void* args, const Bases& bases) {
  const Args& a = *static_cast<const Args*>(args);
  const BroadcastTensors<float> tensors = {bases.resolve<const float>(a.input1),
                                           bases.resolve<const float>(a.input2),
                                           bases.resolve<float>(a.output),
                                           &a.input1_dims,
                                           &a.input2_dims,
                                           &a.output_dims};
  return walk_rows(tensors, args, compute_row);
}

constexpr KernelOf<payload::Opcode::kPairFloat32> kPairFloat32 =
    Kernel(operators::kPairFloat32, run_pair_float32).in_place();

}  // namespace cmsis_nn_delegate::portable
