#include "tests/fuzz/operands.h"

#include <cstddef>

namespace cmsis_nn_delegate {
namespace fuzz {
namespace {

using payload::Dims;
using payload::Opcode;

constexpr std::uint64_t kLimit = std::uint64_t{1} << 40;

/// The product, at most kLimit; 0 if a factor is not positive.
std::uint64_t times(std::uint64_t a, std::int64_t b) {
  if (b <= 0 || a == 0) {
    return 0;
  }
  const auto factor = static_cast<std::uint64_t>(b);
  return a > kLimit / factor ? kLimit : a * factor;
}

std::uint64_t volume(const Dims& d) { return times(times(times(times(1, d.n), d.h), d.w), d.c); }

template <typename... Sizes>
std::uint64_t product(Sizes... sizes) {
  std::uint64_t result = 1;
  ((result = times(result, sizes)), ...);
  return result;
}

class Collector {
 public:
  void add(std::size_t field, Role role, std::uint64_t bytes, unsigned alignment = 1) {
    result.operands[result.count++] = {static_cast<std::uint16_t>(field), role,
                                       static_cast<std::uint8_t>(alignment),
                                       bytes >= payload::kMaxRefOffset
                                           ? payload::kMaxRefOffset
                                           : static_cast<std::uint32_t>(bytes)};
  }

  template <typename Args>
  void parameters(std::int32_t channels) {
    add(offsetof(Args, bias), Role::kBias, product(channels, 4), 4);
    add(offsetof(Args, multiplier), Role::kMultiplier, product(channels, 4), 4);
    add(offsetof(Args, shift), Role::kShift, product(channels, 4), 4);
  }

  template <typename Args>
  void convolution(const Args& a) {
    add(offsetof(Args, input), Role::kInput, volume(a.input_dims));
    add(offsetof(Args, filter), Role::kFilter, volume(a.filter_dims));
    parameters<Args>(a.output_dims.c);
    add(offsetof(Args, scratch), Role::kScratch, product(1, a.scratch_bytes), 16);
    add(offsetof(Args, output), Role::kOutput, volume(a.output_dims));
  }

  template <typename Args>
  void pool(const Args& a) {
    add(offsetof(Args, input), Role::kInput, volume(a.input_dims));
    add(offsetof(Args, output), Role::kOutput, volume(a.output_dims));
    result.work = times(times(volume(a.output_dims), a.filter_dims.h), a.filter_dims.w);
  }

  template <typename Args>
  void linear(const Args& a) {
    add(offsetof(Args, input), Role::kInput, product(a.batch, a.inputs));
    add(offsetof(Args, filter), Role::kFilter, product(a.inputs, a.outputs));
    add(offsetof(Args, output), Role::kOutput, product(a.batch, a.outputs));
    result.work = product(a.batch, a.inputs, a.outputs);
  }

  Operands result;
};

}  // namespace

Operands operands_of(std::uint16_t opcode, const void* args) {
  Collector all;
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::kConv2d: {
      const auto& a = *static_cast<const payload::Conv2dArgs*>(args);
      all.convolution(a);
      const Dims& filter = a.filter_dims;
      all.result.work = times(times(times(volume(a.output_dims), filter.h), filter.w), filter.c);
      break;
    }
    case Opcode::kDepthwiseConv2d: {
      const auto& a = *static_cast<const payload::DepthwiseConv2dArgs*>(args);
      all.convolution(a);
      all.result.work = times(times(volume(a.output_dims), a.filter_dims.h), a.filter_dims.w);
      break;
    }
    case Opcode::kFullyConnected: {
      const auto& a = *static_cast<const payload::FullyConnectedArgs*>(args);
      all.linear(a);
      all.parameters<payload::FullyConnectedArgs>(a.outputs);
      break;
    }
    case Opcode::kFullyConnectedPerTensor: {
      using Args = payload::FullyConnectedPerTensorArgs;
      const auto& a = *static_cast<const Args*>(args);
      all.linear(a);
      all.add(offsetof(Args, bias), Role::kBias, product(a.outputs, 4), 4);
      break;
    }
    case Opcode::kAdd: {
      using Args = payload::AddArgs;
      const auto& a = *static_cast<const Args*>(args);
      all.add(offsetof(Args, input1), Role::kInput, product(a.count));
      all.add(offsetof(Args, input2), Role::kInput, product(a.count));
      all.add(offsetof(Args, output), Role::kOutput, product(a.count));
      all.result.work = product(a.count, 3);
      break;
    }
    case Opcode::kAvgPool2d: {
      const auto& a = *static_cast<const payload::AvgPool2dArgs*>(args);
      all.pool(a);
      all.add(offsetof(payload::AvgPool2dArgs, scratch), Role::kScratch,
              product(1, a.scratch_bytes), 16);
      break;
    }
    case Opcode::kMaxPool2d:
      all.pool(*static_cast<const payload::MaxPool2dArgs*>(args));
      break;
    case Opcode::kSoftmax: {
      using Args = payload::SoftmaxArgs;
      const auto& a = *static_cast<const Args*>(args);
      all.add(offsetof(Args, input), Role::kInput, product(a.rows, a.row_size));
      all.add(offsetof(Args, output), Role::kOutput, product(a.rows, a.row_size));
      all.result.work = product(a.rows, a.row_size, 60);
      break;
    }
    case Opcode::kQuantize: {
      using Args = payload::QuantizeArgs;
      const auto& a = *static_cast<const Args*>(args);
      const std::uint64_t count = product(a.batch, a.channels, a.pixels);
      all.add(offsetof(Args, input), Role::kInput, times(count, 4), 4);
      all.add(offsetof(Args, output), Role::kOutput, count);
      all.result.work = count;
      break;
    }
    case Opcode::kDequantize: {
      using Args = payload::DequantizeArgs;
      const auto& a = *static_cast<const Args*>(args);
      const std::uint64_t count = product(a.batch, a.channels, a.pixels);
      all.add(offsetof(Args, input), Role::kInput, count);
      all.add(offsetof(Args, output), Role::kOutput, times(count, 4), 4);
      all.result.work = count;
      break;
    }
    case Opcode::kTranspose: {
      using Args = payload::TransposeArgs;
      const auto& a = *static_cast<const Args*>(args);
      const std::uint64_t count = product(a.batch, a.rows, a.columns);
      all.add(offsetof(Args, input), Role::kInput, count);
      all.add(offsetof(Args, output), Role::kOutput, count);
      all.result.work = count;
      break;
    }
  }
  return all.result;
}

}  // namespace fuzz
}  // namespace cmsis_nn_delegate
