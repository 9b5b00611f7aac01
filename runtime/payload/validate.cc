#include "runtime/payload/validate.h"

#include <cinttypes>

#include <executorch/runtime/platform/log.h>

#include "runtime/payload/bounds.h"
#include "runtime/payload/multipliers.h"

namespace cmsis_nn_delegate {
namespace {

using bounds::in_range;
using bounds::kByteAligned;
using bounds::kWordAligned;
using bounds::product;
using executorch::runtime::Error;
using payload::Activation;
using payload::Dims;
using payload::Opcode;
using payload::Ref;
using payload::Tile;

/// The checks of one call. Each returns whether it holds; the first that fails logs.
class CallValidator {
 public:
  CallValidator(const std::uint8_t* payload, const bounds::Regions& regions, const Kernel& kernel,
                std::uint32_t index, const payload::CallHeader& call)
      : payload_(payload), regions_(regions), kernel_(kernel), index_(index), call_(call) {}

  /// Dispatches on the opcode; the size of the argument block must have been checked.
  bool validate() const {
    const void* args = &call_ + 1;
    switch (static_cast<Opcode>(call_.opcode)) {
      case Opcode::kConv2d:
        return conv2d(*static_cast<const payload::Conv2dArgs*>(args));
      case Opcode::kDepthwiseConv2d:
        return depthwise_conv2d(*static_cast<const payload::DepthwiseConv2dArgs*>(args));
      case Opcode::kFullyConnected:
        return fully_connected(*static_cast<const payload::FullyConnectedArgs*>(args));
      case Opcode::kFullyConnectedPerTensor:
        return fully_connected_per_tensor(
            *static_cast<const payload::FullyConnectedPerTensorArgs*>(args));
      case Opcode::kAdd:
        return add(*static_cast<const payload::AddArgs*>(args));
      case Opcode::kAvgPool2d: {
        const auto& a = *static_cast<const payload::AvgPool2dArgs*>(args);
        return pool(a.input, a.output, a.params, a.input_dims, a.filter_dims, a.output_dims) &&
               scratch(a);
      }
      case Opcode::kMaxPool2d: {
        const auto& a = *static_cast<const payload::MaxPool2dArgs*>(args);
        return pool(a.input, a.output, a.params, a.input_dims, a.filter_dims, a.output_dims) &&
               apart_and_accepted({a.input, volume(a.input_dims)},
                                  {a.output, volume(a.output_dims)});
      }
      case Opcode::kSoftmax:
        return softmax(*static_cast<const payload::SoftmaxArgs*>(args));
      case Opcode::kQuantize: {
        const auto& a = *static_cast<const payload::QuantizeArgs*>(args);
        const std::uint32_t count = volume(a.batch, a.channels, a.pixels);
        return require(in_range(a.zero_point, -128, 127), "zero point out of range") &&
               input(a.input, product(count, sizeof(float)), kWordAligned) &&
               output(a.output, count) &&
               apart_and_accepted({a.input, product(count, sizeof(float))}, {a.output, count});
      }
      case Opcode::kDequantize: {
        const auto& a = *static_cast<const payload::DequantizeArgs*>(args);
        const std::uint32_t count = volume(a.batch, a.channels, a.pixels);
        return require(in_range(a.zero_point, -128, 127), "zero point out of range") &&
               input(a.input, count) &&
               output(a.output, product(count, sizeof(float)), kWordAligned) &&
               apart_and_accepted({a.input, count}, {a.output, product(count, sizeof(float))});
      }
      case Opcode::kTranspose: {
        const auto& a = *static_cast<const payload::TransposeArgs*>(args);
        const std::uint32_t count = volume(a.batch, a.rows, a.columns);
        return input(a.input, count) && output(a.output, count) &&
               apart_and_accepted({a.input, count}, {a.output, count});
      }
    }
    return require(false, "unknown opcode");
  }

 private:
  bool require(bool condition, [[maybe_unused]] const char* what) const {
    if (!condition) {
      ET_LOG(Error, "malformed payload: call %" PRIu32 " (opcode %u): %s", index_,
             static_cast<unsigned>(call_.opcode), what);
    }
    return condition;
  }

  static std::uint32_t volume(std::int32_t a, std::int32_t b, std::int32_t c) {
    return product(product(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)),
                   static_cast<std::uint32_t>(c));
  }

  /// Of dimensions of which windows() has checked the range: half products fit 30 bits.
  static std::uint32_t volume(const Dims& d) {
    return product(static_cast<std::uint32_t>(d.n * d.h), static_cast<std::uint32_t>(d.w * d.c));
  }

  bool input(Ref ref, std::uint32_t bytes, bounds::Need alignment = kByteAligned) const {
    return require(regions_.contain(ref, bytes, alignment),
                   "an input reference is out of bounds or misaligned");
  }
  bool output(Ref ref, std::uint32_t bytes, bounds::Need alignment = kByteAligned) const {
    return require(regions_.contain(ref, bytes, alignment | bounds::kWrite),
                   "the output reference is out of bounds, misaligned or not writable");
  }

  struct Bytes {
    Ref ref;
    std::uint32_t count;
  };

  // Not inlined: these are at the end of every operator's checks.

  /// Whether the kernel may write `written` while it reads `read`, both in bounds.
  [[gnu::noinline]] bool apart(const Bytes& read, const Bytes& written) const {
    using Overlap = bounds::Regions::Overlap;
    const Overlap overlap = regions_.overlap(read.ref, read.count, written.ref, written.count);
    return require(overlap == Overlap::kNone ||
                       (overlap == Overlap::kSame && kernel_.overwrites_input),
                   "the output overlaps an input");
  }

  /// The last check of a call: of sizes for which the kernel has no code.
  [[gnu::noinline]] bool accepted() const {
    return require(kernel_.accepts == nullptr || kernel_.accepts(&call_ + 1),
                   "the kernel does not compute these sizes: compile the model again");
  }

  /// apart() and accepted() of a call with one input.
  [[gnu::noinline]] bool apart_and_accepted(const Bytes& read, const Bytes& written) const {
    return apart(read, written) && accepted();
  }

  /// The last checks of a call that may have scratch memory: the kernel computes what it needs from
  /// what the others have checked.
  [[gnu::noinline]] bool scratch(const Bytes& given, const Bytes& read,
                                 const Bytes& written) const {
    const auto meets = [&](const Bytes& other) {
      return regions_.overlap(given.ref, given.count, other.ref, other.count) !=
             bounds::Regions::Overlap::kNone;
    };
    return apart(read, written) &&
           require(given.count == 0 ? given.ref == payload::kNoRef
                                    : regions_.contain(given.ref, given.count,
                                                       bounds::kBlockAligned | bounds::kWrite),
                   "the scratch reference is out of bounds, misaligned or not writable") &&
           require(given.count == 0 || !(meets(read) || meets(written)),
                   "the scratch memory overlaps the input or the output") &&
           accepted() &&
           require(kernel_.scratch_bytes == nullptr ||
                       kernel_.scratch_bytes(&call_ + 1) <= given.count,
                   "the kernel needs more scratch memory than scratch_bytes");
  }
  template <typename Args>
  bool scratch(const Args& a) const {
    return scratch({a.scratch, static_cast<std::uint32_t>(a.scratch_bytes)},
                   {a.input, volume(a.input_dims)}, {a.output, volume(a.output_dims)});
  }

  bool activation(const Activation& a) const {
    return require(in_range(a.min, -128, 127) && in_range(a.max, a.min, 127),
                   "activation limits out of range");
  }

  bool filter(Ref ref, std::uint32_t bytes) const {
    return require(regions_.contain_constants({ref}, bytes, 1, kernel_.behind.filter),
                   "the filter, or what the kernel loads behind it, is not a constant or out of bounds");
  }
  /// int32 parameters, one per output channel.
  template <std::size_t kCount>
  bool constants(const Ref (&refs)[kCount], std::int32_t channels) const {
    return require(regions_.contain_constants(
                       refs, product(static_cast<std::uint32_t>(channels), sizeof(std::int32_t)),
                       alignof(std::int32_t), kernel_.behind.parameters),
                   "bias, multiplier or shift is not a constant, out of bounds or misaligned");
  }

  /// Multipliers and shifts of `channels` outputs, both in bounds.
  [[gnu::noinline]] bool multipliers(Ref multiplier, Ref shift, std::int32_t channels) const {
    return require(multipliers_valid(constant(multiplier), constant(shift), channels),
                   "a multiplier or shift is out of range");
  }
  const std::int32_t* constant(Ref ref) const {
    return reinterpret_cast<const std::int32_t*>(payload_ + (ref & payload::kMaxRefOffset));
  }

  /// What every convolution has: the filter, parameters per output channel, and quantization
  /// offsets.
  template <typename Args>
  bool weights(const Args& a, std::uint32_t filter_bytes, std::int32_t channels) const {
    return filter(a.filter, filter_bytes) && constants({a.bias, a.multiplier, a.shift}, channels) &&
           multipliers(a.multiplier, a.shift, channels) &&
           require(in_range(a.params.input_offset, -127, 128) &&
                       in_range(a.params.output_offset, -128, 127),
                   "quantization offset out of range") &&
           activation(a.params.activation);
  }

  /// These fit 15 bits only if every size is in [1, kMaxDim]: a larger one has a higher bit,
  /// and 0 - 1 has them all.
  static std::uint32_t range_bits(const Dims& d) {
    static_assert(payload::kMaxDim == (1 << 15) - 1, "the limit is a number of bits");
    const auto n = static_cast<std::uint32_t>(d.n);
    const auto h = static_cast<std::uint32_t>(d.h);
    const auto w = static_cast<std::uint32_t>(d.w);
    const auto c = static_cast<std::uint32_t>(d.c);
    return (n | h | w | c) | ((n - 1) | (h - 1) | (w - 1) | (c - 1));
  }
  static std::uint32_t range_bits(const Tile& t) {
    const auto w = static_cast<std::uint32_t>(t.w);
    const auto h = static_cast<std::uint32_t>(t.h);
    return (w | h) | ((w - 1) | (h - 1));
  }

  /// Whether windows may lie in the padding entirely.
  enum class Overlap : std::uint8_t { kOptional, kRequired };

  /// One axis of a convolution or pooling, all values in range. `taps` apart by `dilation` form a window, which
  /// starts at -padding and advances by `stride`. No window that fits in front of the input's
  /// end may be missing: CMSIS-NN's 1x1 kernels compute as many outputs as there are inputs.
  /// No term exceeds 31 bits: all values are at most kMaxDim.
  static bool fits_window(std::int32_t in, std::int32_t taps, std::int32_t out,
                          std::int32_t stride, std::int32_t padding, std::int32_t dilation,
                          Overlap overlap) {
    static_assert(payload::kMaxDim == 32767, "the sums below must fit 31 bits");
    const std::int32_t extent = (taps - 1) * dilation + 1;  // of a window
    const std::int32_t end = out * stride;                  // of the windows, from -padding
    // The first and the last window are the outermost ones.
    const bool overlaps = padding < extent && end - stride - padding < in;
    return end + extent > in + padding && (overlaps || overlap == Overlap::kOptional);
  }

  /// The geometry shared by convolutions and pooling.
  bool windows(const Dims& in, const Dims& filter, const Dims& out, const Tile& stride,
               const Tile& padding, const Tile& dilation, Overlap overlap) const {
    const std::uint32_t bits = range_bits(in) | range_bits(filter) | range_bits(out) |
                               range_bits(stride) | range_bits(dilation) |
                               static_cast<std::uint32_t>(padding.h | padding.w);  // may be 0
    return require((bits >> 15) == 0, "dimension, stride, padding or dilation out of range") &&
           require(in.n == out.n, "input and output differ in batch") &&
           require(fits_window(in.h, filter.h, out.h, stride.h, padding.h, dilation.h, overlap) &&
                       fits_window(in.w, filter.w, out.w, stride.w, padding.w, dilation.w, overlap),
                   "stride, padding, dilation and sizes do not fit together");
  }

  bool conv2d(const payload::Conv2dArgs& a) const {
    const auto& p = a.params;
    const Dims& in = a.input_dims;
    const Dims& filter = a.filter_dims;
    const Dims& out = a.output_dims;
    if (!windows(in, filter, out, p.stride, p.padding, p.dilation, Overlap::kOptional)) {
      return false;
    }
    const std::int32_t groups = in.c / filter.c;
    return require(groups >= 1 && groups * filter.c == in.c && out.c % groups == 0 &&
                       filter.n == out.c,
                   "channels, groups and filters do not agree") &&
           input(a.input, volume(in)) && weights(a, volume(filter), out.c) &&
           output(a.output, volume(out)) && scratch(a);
  }

  bool depthwise_conv2d(const payload::DepthwiseConv2dArgs& a) const {
    const auto& p = a.params;
    const Dims& in = a.input_dims;
    const Dims& filter = a.filter_dims;
    const Dims& out = a.output_dims;
    return windows(in, filter, out, p.stride, p.padding, p.dilation, Overlap::kOptional) &&
           require(in_range(p.ch_mult, 1, payload::kMaxDim) && p.ch_mult * in.c == out.c &&
                       filter.c == out.c && filter.n == 1,
                   "channels, multiplier and filters do not agree") &&
           input(a.input, volume(in)) && weights(a, volume(filter), out.c) &&
           output(a.output, volume(out)) && scratch(a);
  }

  bool fully_connected(const payload::FullyConnectedArgs& a) const {
    return linear(a) && constants({a.bias, a.multiplier, a.shift}, a.outputs) &&
           multipliers(a.multiplier, a.shift, a.outputs) && accepted();
  }

  bool fully_connected_per_tensor(const payload::FullyConnectedPerTensorArgs& a) const {
    return linear(a) && constants({a.bias}, a.outputs) &&
           require(multiplier_valid(a.multiplier, a.shift, payload::kMaxShift),
                   "multiplier or shift out of range") &&
           accepted();
  }

  /// No sizes but positive ones have a product that is not too large.
  template <typename Args>
  bool linear(const Args& a) const {
    return input(a.input, volume(a.batch, a.inputs, 1)) &&
           filter(a.filter, volume(a.inputs, a.outputs, 1)) &&
           require(in_range(a.output_offset, -128, 127), "quantization offset out of range") &&
           activation(a.activation) && output(a.output, volume(a.batch, a.outputs, 1)) &&
           apart({a.input, volume(a.batch, a.inputs, 1)}, {a.output, volume(a.batch, a.outputs, 1)});
  }

  bool add(const payload::AddArgs& a) const {
    const auto count = static_cast<std::uint32_t>(a.count);
    return input(a.input1, count) && input(a.input2, count) && output(a.output, count) &&
           apart({a.input1, count}, {a.output, count}) &&
           apart({a.input2, count}, {a.output, count}) &&
           require(in_range(a.input1_offset, -127, 128) && in_range(a.input2_offset, -127, 128) &&
                       in_range(a.output_offset, -128, 127) &&
                       multiplier_valid(a.input1_multiplier, a.input1_shift, 0) &&
                       multiplier_valid(a.input2_multiplier, a.input2_shift, 0) &&
                       multiplier_valid(a.output_multiplier, a.output_shift, 0) &&
                       a.left_shift == 20,
                   "offset, multiplier or shift out of range") &&
           activation(a.activation) && accepted();
  }

  bool pool(Ref in_ref, Ref out_ref, const payload::PoolParams& p, const Dims& in,
            const Dims& filter, const Dims& out) const {
    constexpr Tile kNoDilation = {1, 1};
    // An empty window would divide by zero, or keep what the output held.
    return windows(in, filter, out, p.stride, p.padding, kNoDilation, Overlap::kRequired) &&
           require(in.c == out.c, "input and output differ in channels") &&
           input(in_ref, volume(in)) && output(out_ref, volume(out)) && activation(p.activation);
  }

  bool softmax(const payload::SoftmaxArgs& a) const {
    const std::uint32_t count = volume(a.rows, a.row_size, 1);
    // The difference that counts last must not overflow when it is scaled to Q5.26.
    return require(a.multiplier >= 0 && in_range(a.shift, 0, payload::kMaxShift) &&
                       in_range(a.diff_min, -(payload::kMaxSoftmaxDifference >> a.shift), 0),
                   "multiplier, shift or diff_min out of range") &&
           input(a.input, count) && output(a.output, count) &&
           apart_and_accepted({a.input, count}, {a.output, count});
  }

  const std::uint8_t* payload_;
  const bounds::Regions& regions_;
  const Kernel& kernel_;
  [[maybe_unused]] std::uint32_t index_;
  const payload::CallHeader& call_;
};

}  // namespace

Error validate_calls(const PayloadView& view, const KernelTable& kernels) {
  std::uint32_t remaining = view.header().calls_bytes;
  const std::uint8_t* at = view.calls_begin();
  const std::uint32_t count = view.header().call_count;
  if (count == 0) {  // nothing would write the outputs
    ET_LOG(Error, "malformed payload: no calls");
    return Error::InvalidProgram;
  }
  const bounds::Regions regions(view);
  for (std::uint32_t index = 0; index < count; ++index) {
    const auto& call = *reinterpret_cast<const payload::CallHeader*>(at);
    if (remaining < sizeof(call) || call.opcode >= payload::kOpcodeCount ||
        payload::kArgsBytes[call.opcode] == 0 ||
        call.bytes != sizeof(call) + payload::kArgsBytes[call.opcode] || call.bytes > remaining) {
      ET_LOG(Error,
             "malformed payload: call %" PRIu32 ": unknown opcode, wrong size or beyond the end",
             index);
      return Error::InvalidProgram;
    }
    const Kernel& kernel = kernels.kernels[call.opcode];
    if (kernel.run == nullptr) {
      ET_LOG(Error, "call %" PRIu32 ": no kernel for opcode %u in the table \"%s\": link it",
             index, static_cast<unsigned>(call.opcode), kernels.name);
      return Error::DelegateInvalidCompatibility;
    }
    if (!CallValidator(view.data(), regions, kernel, index, call).validate()) {
      return Error::InvalidProgram;
    }
    at += call.bytes;
    remaining -= call.bytes;
  }
  if (remaining != 0) {
    ET_LOG(Error, "malformed payload: %" PRIu32 " bytes behind the last call", remaining);
    return Error::InvalidProgram;
  }
  return Error::Ok;
}

}  // namespace cmsis_nn_delegate
