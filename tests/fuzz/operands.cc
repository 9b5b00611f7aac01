#include "tests/fuzz/operands.h"

#include <algorithm>

namespace cmsis_nn_delegate::fuzz {
namespace {

using payload::Opcode;

constexpr std::uint64_t kLimit = std::uint64_t{1} << 40;

/// Returns a * b, at most kLimit; 0 if b is not positive.
std::uint64_t times(std::uint64_t a, std::int64_t b) {
  if (b <= 0 || a == 0) {
    return 0;
  }
  const auto factor = static_cast<std::uint64_t>(b);
  return a > kLimit / factor ? kLimit : a * factor;
}

/// Returns the work of the kernel for each element of its output.
std::uint64_t work_per_output(Opcode opcode, const void* args) {
  switch (opcode) {
    case Opcode::kConv2d: {
      const auto& filter = static_cast<const payload::Conv2dArgs*>(args)->filter_dims;
      return times(times(times(1, filter.h), filter.w), filter.c);
    }
    case Opcode::kConv2dLarge: {
      const auto& filter = static_cast<const payload::Conv2dLargeArgs*>(args)->filter_dims;
      return times(times(times(1, filter.h), filter.w), filter.c);
    }
    case Opcode::kConv2dVectors: {
      const auto& filter = static_cast<const payload::Conv2dVectorsArgs*>(args)->filter_dims;
      return times(times(times(1, filter.h), filter.w), filter.c);
    }
    case Opcode::kConv2dGroupedVectors: {
      const auto& filter = static_cast<const payload::Conv2dGroupedVectorsArgs*>(args)->filter_dims;
      return times(times(times(1, filter.h), filter.w), filter.c);
    }
    case Opcode::kDepthwiseConv2dVectors:
    case Opcode::kDepthwiseConv2dWindows:
      return 9;
    case Opcode::kDepthwiseConv2d: {
      const auto& filter = static_cast<const payload::DepthwiseConv2dArgs*>(args)->filter_dims;
      return times(times(1, filter.h), filter.w);
    }
    case Opcode::kDepthwiseConv2dColumns:
      return 25;
    case Opcode::kDepthwiseConv2dPlanes:
      return 18;
    case Opcode::kAvgPool2d: {
      const auto& filter = static_cast<const payload::AvgPool2dArgs*>(args)->filter_dims;
      return times(times(1, filter.h), filter.w);
    }
    case Opcode::kAvgPool2dChannels: {
      const auto& filter = static_cast<const payload::AvgPool2dChannelsArgs*>(args)->filter_dims;
      return times(times(1, filter.h), filter.w);
    }
    case Opcode::kMaxPool2dChannels: {
      const auto& filter = static_cast<const payload::MaxPool2dChannelsArgs*>(args)->filter_dims;
      return times(times(1, filter.h), filter.w);
    }
    case Opcode::kMaxPool2d: {
      const auto& filter = static_cast<const payload::MaxPool2dArgs*>(args)->filter_dims;
      return times(times(1, filter.h), filter.w);
    }
    case Opcode::kFullyConnected:
      return times(1, static_cast<const payload::FullyConnectedArgs*>(args)->inputs);
    case Opcode::kFullyConnectedPerTensor:
      return times(1, static_cast<const payload::FullyConnectedPerTensorArgs*>(args)->inputs);
    case Opcode::kSoftmax:
      return 60;
    case Opcode::kTopkIndices:
      return times(1, static_cast<const payload::TopkIndicesArgs*>(args)->axis);
    case Opcode::kTopkIndicesInt16:
      return times(1, static_cast<const payload::TopkIndicesInt16Args*>(args)->axis);
    case Opcode::kTopkValues:
      return times(1, static_cast<const payload::TopkValuesArgs*>(args)->axis);
    case Opcode::kTopkValuesInt16:
      return times(1, static_cast<const payload::TopkValuesInt16Args*>(args)->axis);
    default:
      return 3;
  }
}

}  // namespace

Operands operands_of(std::uint16_t opcode, const void* args) {
  Operands result;
  if (opcode >= payload::kOpcodeCount) {
    return result;
  }
  for (const OperatorField& field : kOperatorFields[opcode]) {
    if (!field.is_reference()) {
      continue;
    }
    const std::uint64_t bytes = field.bytes(args);
    result.operands[result.count++] = {
        field.at.offset, field.kind, field.alignment,
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, payload::kMaxRefOffset))};
    if (field.kind == FieldKind::kOutput) {
      result.work =
          times(bytes / field.element_bytes,
                static_cast<std::int64_t>(work_per_output(static_cast<Opcode>(opcode), args)));
    }
  }
  return result;
}

}  // namespace cmsis_nn_delegate::fuzz
