#include "tests/fuzz/redraw.h"

#include <cstddef>

#include "runtime/payload/format.h"
#include "tests/payloads/operator_fields.h"
#include "tests/payloads/put.h"

namespace cmsis_nn_delegate::fuzz {
namespace {

using payload::Activation;
using payload::Dims;
using payload::Opcode;
using payload::put;
using payload::Tile;

constexpr std::int32_t kMaxOutputs = 40;  // along one axis

std::int32_t channels(Random& random) {
  switch (random.below(4)) {
    case 0:
      return 4 * random.in(1, 6);
    case 1:
      return random.in(10, 40);
    default:
      return random.in(1, 9);
  }
}

/// One axis of a convolution or pooling whose windows fit.
struct Axis {
  std::int32_t in, taps, out, stride, padding, dilation;
};

Axis draw_axis(Random& random, bool with_dilation) {
  Axis axis;
  axis.taps = random.one_in(4) ? 1 : random.in(1, random.one_in(4) ? 9 : 4);
  axis.dilation = with_dilation && random.one_in(4) ? random.in(1, 3) : 1;
  axis.in = random.one_in(5) ? 1 : random.in(1, random.one_in(4) ? 24 : 9);
  axis.stride = random.one_in(3) ? random.in(1, random.one_in(8) ? 40 : 4) : 1;
  const std::int32_t extent = (axis.taps - 1) * axis.dilation + 1;
  axis.padding = random.one_in(2) ? 0 : random.in(0, random.one_in(4) ? extent + 2 : extent / 2);
  // The smallest number of outputs that includes every window that fits; more reach into the padding at the end.
  const std::int32_t room = axis.in + axis.padding - extent;
  axis.out = room < 0 ? 1 : room / axis.stride + 1;
  if (random.one_in(4)) {
    axis.out += random.in(0, 2);
  }
  axis.out = axis.out > kMaxOutputs ? kMaxOutputs : axis.out;
  return axis;
}

Activation draw_activation(Random& random) {
  if (random.one_in(2)) {
    return {-128, 127};
  }
  const std::int32_t low = random.in(-128, 127);
  return {low, random.in(low, 127)};
}

/// `dilation` is nullptr for windows without any.
template <typename Args, typename Dilation>
void draw_windows(Args& a, Random& random, bool with_dilation, Dilation* dilation) {
  const Axis h = draw_axis(random, with_dilation);
  Axis w = draw_axis(random, with_dilation);
  if (random.one_in(6)) {
    w = h;
  }
  put(a.params.stride, Tile{w.stride, h.stride});
  put(a.params.padding, Tile{w.padding, h.padding});
  put(a.params.activation, draw_activation(random));
  if (dilation != nullptr) {
    put(*dilation, Tile{w.dilation, h.dilation});
  }
  const std::int32_t batch = random.one_in(4) ? random.in(1, 4) : 1;
  put(a.input_dims, Dims{batch, h.in, w.in, 1});
  put(a.filter_dims, Dims{1, h.taps, w.taps, 1});
  put(a.output_dims, Dims{batch, h.out, w.out, 1});
}

template <typename Args>
void draw_offsets(Args& a, Random& random) {
  put(a.params.input_offset, random.in(-127, 128));
  put(a.params.output_offset, random.in(-128, 127));
}

/// As many outputs as windows of `taps` fit into an axis, or one more.
std::int32_t draw_outputs(std::int32_t in, std::int32_t taps, std::int32_t padding,
                          std::int32_t stride, Random& random) {
  const std::int32_t room = in + padding - taps;
  return (room < 0 ? 1 : room / stride + 1) + (random.one_in(2) ? 1 : 0);
}

/// Sets those of windows that have their size, stride and padding.
template <typename Args>
void put_outputs(Args& a, Random& random) {
  put(a.output_dims.h,
      draw_outputs(a.input_dims.h, a.filter_dims.h, a.params.padding.h, a.params.stride.h, random));
  put(a.output_dims.w,
      draw_outputs(a.input_dims.w, a.filter_dims.w, a.params.padding.w, a.params.stride.w, random));
}

/// Changes one of the sizes now and then.
template <std::size_t kCount>
void disturb(std::uint16_t* const (&sizes)[kCount], Random& random) {
  if (random.one_in(8)) {
    std::uint16_t& size = *sizes[random.below(kCount)];
    put(size, size + random.in(-1, 1));
  }
}

template <typename Args>
void redraw_conv2d(Args& a, Random& random) {
  draw_windows(a, random, true, &a.params.dilation);
  draw_offsets(a, random);
  const std::int32_t groups = random.one_in(4) ? random.in(2, 4) : 1;
  const std::int32_t in = channels(random);
  const std::int32_t out = channels(random);
  if (random.one_in(6)) {
    // One row, for which CMSIS-NN has a special kernel with MVE, with special rules.
    a.input_dims.h = a.filter_dims.h = a.output_dims.h = 1;
    a.params.stride.h = a.params.dilation.h = a.params.dilation.w = 1;
    a.params.padding.h = 0;
    if (random.one_in(3)) {  // rows that are shorter than the kernel
      const std::int32_t shorter = a.filter_dims.w - random.in(0, 2);
      put(a.input_dims.w, shorter < 1 ? 1 : shorter);
      put(a.params.padding.w, random.in(0, 3));
    }
    if (random.one_in(2)) {  // the same padding on both sides
      const std::int32_t length = a.input_dims.w + 2 * a.params.padding.w - a.filter_dims.w;
      put(a.output_dims.w, (length < 0 ? 0 : length / a.params.stride.w) + 1);
    }
  }
  put(a.filter_dims.c, in);
  put(a.input_dims.c, in * groups);
  put(a.filter_dims.n, out * groups);
  put(a.output_dims.c, out * groups);
}

/// Few inputs of a window, so that payloads have a table that is as large; the sizes of the table are wrong now and then.
/// `groups` are 1 for a kernel of one group; else the numbers of channels are wrong now and then, too.
template <typename Args>
void redraw_vectors(Args& a, Random& random, std::int32_t groups) {
  draw_windows(a, random, random.one_in(16), &a.params.dilation);
  draw_offsets(a, random);
  if (random.one_in(3)) {  // pointwise
    a.filter_dims.h = a.filter_dims.w = 1;
    a.params.padding = {0, 0};
    put(a.output_dims.h, (a.input_dims.h - 1) / a.params.stride.h + 1);
    put(a.output_dims.w, (a.input_dims.w - 1) / a.params.stride.w + 1);
  }
  put(a.filter_dims.c, channels(random));
  put(a.input_dims.c, a.filter_dims.c * groups);
  put(a.output_dims.c,
      groups == 1 ? channels(random) + 1 : groups * (random.one_in(8) ? 3 : 2 * random.in(1, 4)));
  a.filter_dims.n = a.output_dims.c;
  const std::int32_t inputs = a.filter_dims.h * a.filter_dims.w * a.filter_dims.c;
  a.block_words = (inputs + 15) / 16 * 8 + 6 + (random.one_in(8) ? random.in(-8, 8) : 0);
  a.blocks = (a.output_dims.c + (random.one_in(8) ? 0 : 1)) / 2;
  a.scratch_bytes = random.one_in(3) ? 0 : 16 * random.in(1, 64);
}

/// Sizes that the kernel takes, except now and then.
/// `block` is how many channels a block has, of at least as many.
template <typename Args>
void redraw_depthwise_vectors(Args& a, Random& random, std::int32_t block) {
  draw_windows(a, random, random.one_in(16), &a.params.dilation);
  draw_offsets(a, random);
  put(a.params.stride, Tile{random.in(1, 2), random.in(1, 2)});
  const std::int32_t c = block - 1 + channels(random);
  put(a.input_dims.c, c);
  put(a.output_dims.c, c);
  put(a.filter_dims, Dims{c, 3, 3, 1});
  put_outputs(a, random);
  a.blocks = (c + (random.one_in(8) ? 0 : block - 1)) / block;
  a.scratch_bytes = 16 * random.in(1, 64 * (9 - block));
}

void redraw_depthwise(payload::DepthwiseConv2dArgs& a, Random& random) {
  draw_windows(a, random, true, &a.params.dilation);
  draw_offsets(a, random);
  a.params.ch_mult = random.one_in(3) ? random.in(1, 5) : 1;
  put(a.input_dims.c, random.one_in(16) ? random.in(120, 132) : channels(random));
  put(a.output_dims.c, a.input_dims.c * a.params.ch_mult);
  a.filter_dims.c = a.output_dims.c;
  if (random.one_in(4)) {
    // Cases for which CMSIS-NN has special kernels.
    a.params.ch_mult = 1;
    a.params.dilation = {1, 1};
    a.filter_dims = {1, 3, 3, a.input_dims.c};
    put(a.params.padding, Tile{random.in(0, 1), random.in(0, 1)});
    put(a.output_dims.c, a.input_dims.c);
    put_outputs(a, random);
  }
}

/// Sizes that the kernel takes, except now and then.
void redraw_planes(payload::DepthwiseConv2dPlanesArgs& a, Random& random) {
  draw_windows(a, random, false, static_cast<Tile*>(nullptr));
  draw_offsets(a, random);
  a.along_height = random.in(0, 1);
  a.strips = random.one_in(2) ? random.in(1, 8) : 1;
  const std::int32_t stride = random.in(1, 2);
  put(a.params.stride, Tile{stride, stride});
  a.params.dilation = {1, 1};
  const std::int32_t c = channels(random);
  put(a.input_dims.c, c);
  put(a.output_dims.c, c);
  put(a.filter_dims, Dims{c, 3, 3, 1});
  put_outputs(a, random);
  disturb({&a.filter_dims.h, &a.filter_dims.c, &a.params.stride.w, &a.params.dilation.h,
           &a.output_dims.c},
          random);
}

/// The same, with five taps in each of `rows` rows.
template <typename Args>
void redraw_rows_of_five(Args& a, Random& random, std::int32_t rows) {
  draw_windows(a, random, false, static_cast<Tile*>(nullptr));
  draw_offsets(a, random);
  const std::int32_t stride = random.in(1, 2);
  put(a.params.stride, Tile{stride, stride});
  a.params.dilation = {1, 1};
  const std::int32_t c = channels(random);
  put(a.input_dims.c, c);
  put(a.output_dims.c, c);
  put(a.filter_dims, Dims{c, rows, 5, 1});
  put_outputs(a, random);
  disturb({&a.filter_dims.h, &a.filter_dims.w, &a.params.stride.w, &a.params.dilation.h,
           &a.output_dims.c, &a.output_dims.h},
          random);
}

void redraw_fives(payload::DepthwiseConv2d5x5Args& a, Random& random) {
  const std::int32_t rows = random.in(1, 5);
  redraw_rows_of_five(a, random, rows);
  a.channel_words = (5 * rows + 4) / 4 + 2;
  a.band_rows = random.one_in(2) ? a.output_dims.h : random.in(1, 8);
}

void redraw_columns(payload::DepthwiseConv2dColumnsArgs& a, Random& random) {
  redraw_rows_of_five(a, random, 5);
  a.blocks = a.output_dims.c + (random.one_in(8) ? random.in(-2, 2) : 0);
  a.block_words = 11 + (random.one_in(8) ? random.in(-2, 2) : 0);
  a.scratch_bytes = 16 * random.in(1, 256);
}

/// The same, with taps along one axis.
void redraw_lines(payload::DepthwiseConv2dLinesArgs& a, Random& random) {
  draw_windows(a, random, false, static_cast<Tile*>(nullptr));
  draw_offsets(a, random);
  a.along_height = random.in(0, 1);
  a.strips = random.one_in(2) ? random.in(1, 8) : 1;
  put(a.params.stride, Tile{1, 1});
  a.params.dilation = {1, 1};
  const bool along_height = a.along_height != 0;
  const std::int32_t c = channels(random);
  const std::int32_t taps = random.in(2, 20);
  const std::int32_t padding = random.in(0, taps);
  const std::int32_t room = (along_height ? a.input_dims.h : a.input_dims.w) + padding - taps;
  const std::int32_t outputs = (room < 0 ? 0 : room) + random.in(1, 2);
  put(a.input_dims.c, c);
  put(a.output_dims.c, c);
  put(a.filter_dims, along_height ? Dims{c, taps, 1, 1} : Dims{c, 1, taps, 1});
  put(a.params.padding, along_height ? Tile{0, padding} : Tile{padding, 0});
  put(a.output_dims.h, along_height ? outputs : a.input_dims.h);
  put(a.output_dims.w, along_height ? a.input_dims.w : outputs);
  a.channel_words = taps / 4 + 3;
  disturb({&a.filter_dims.h, &a.filter_dims.w, &a.params.stride.w, &a.params.dilation.h,
           &a.output_dims.c, &a.output_dims.h},
          random);
}

template <typename Args>
void redraw_pool(Args& a, Random& random) {
  draw_windows(a, random, false, static_cast<Tile*>(nullptr));
  put(a.input_dims.c, channels(random));
  a.output_dims.c = a.input_dims.c;
}

template <typename Args>
void redraw_linear(Args& a, Random& random) {
  a.batch = random.one_in(3) ? random.in(1, 5) : 1;
  a.inputs = random.one_in(3) ? random.in(16, 160) : random.in(1, 20);
  a.outputs = random.in(1, 24);
  a.output_offset = random.in(-128, 127);
  a.activation = draw_activation(random);
}

std::int32_t q31(Random& random) {
  return (1 << 30) + static_cast<std::int32_t>(random.below(1 << 30));
}

template <typename Args>
void redraw_softmax(Args& a, Random& random) {
  a.rows = random.in(1, 4);
  a.row_size = random.in(1, random.one_in(4) ? 600 : 40);
  a.multiplier = q31(random);
  a.shift = random.in(0, 30);
  a.diff_min = -random.in(0, 255);
}

/// A copy that fits; every fourth one reaches a little too far somewhere.
template <typename Args>
void redraw_strided_copy(Args& a, Random& random) {
  payload::CopyAxis* const axes[] = {&a.axis0, &a.axis1, &a.axis2, &a.axis3, &a.axis4, &a.axis5};
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int32_t last_written = 0;
  std::int32_t within = 1;  // elements that the inner axes write
  for (int i = 5; i >= 0; --i) {
    payload::CopyAxis& axis = *axes[i];
    axis.size = random.one_in(2) ? 1 : random.in(1, random.one_in(8) ? 60 : 5);
    axis.input_stride = random.one_in(3) ? 1 : random.in(-9, 9);
    axis.output_stride = within + (random.one_in(4) ? random.in(0, 3) : 0);
    within = axis.output_stride * axis.size;
    const std::int32_t reach = (axis.size - 1) * axis.input_stride;
    (reach < 0 ? first : last) += reach;
    last_written += (axis.size - 1) * axis.output_stride;
  }
  a.input_offset = random.in(0, 3) - first;
  a.output_offset = random.in(0, 3);
  a.input_count = a.input_offset + last + 1 + random.in(0, 3);
  a.output_count = a.output_offset + last_written + 1 + random.in(0, 3);
  if (random.one_in(4)) {
    std::int32_t* const counted[] = {&a.input_offset, &a.output_offset, &a.input_count,
                                     &a.output_count};
    *counted[random.below(4)] += random.in(-9, 9);
  }
}

/// A pad whose sizes agree, except now and then.
void redraw_pad_nd(payload::PadNdArgs& a, Random& random) {
  payload::PadAxis* const axes[] = {&a.axis0, &a.axis1, &a.axis2, &a.axis3, &a.axis4, &a.axis5};
  a.mode = random.in(0, 3);
  a.fill = random.in(-128, 127);
  a.row_size = random.one_in(2) ? 1 : random.in(1, 40);
  a.input_count = a.output_count = a.row_size;
  for (payload::PadAxis* axis : axes) {
    axis->input_size = axis->output_size = random.one_in(2) ? 1 : random.in(1, 5);
    axis->before = 0;
    if (random.one_in(2)) {
      axis->before = random.in(-3, axis->input_size + 1);
      axis->output_size = random.in(1, 7);
    }
    a.input_count *= axis->input_size;
    a.output_count *= axis->output_size;
  }
  if (random.one_in(4)) {
    std::int32_t* const sizes[] = {&a.input_count, &a.output_count, &a.row_size};
    *sizes[random.below(3)] += random.in(-2, 2);
  }
}

/// The last steps of sequences, of which each has a length, except now and then.
template <typename Args>
void redraw_last_step(Args& a, Random& random) {
  a.steps = random.in(1, 9);
  a.batch = random.in(1, 5);
  a.width = random.in(1, random.one_in(4) ? 70 : 9);
  a.batch_first = random.in(0, 1);
  a.length_bytes = a.batch * (random.one_in(2) ? 4 : 8) + (random.one_in(8) ? random.in(-4, 4) : 0);
}

/// A look-up whose indices lie in the input; every fourth one reaches a little too far.
template <typename Args>
void redraw_embedding(Args& a, Random& random) {
  a.rows = random.in(1, random.one_in(4) ? 300 : 12);
  a.depth = random.in(1, random.one_in(4) ? 70 : 9);
  a.outer = random.one_in(2) ? 1 : random.in(1, 6);
  a.inner = random.in(1, 9);
  a.first = random.in(0, 3);
  a.outer_step = random.in(0, 12);
  a.inner_step = random.in(0, 3);
  a.from_end = random.in(0, 1);
  a.input_count =
      a.first + (a.outer - 1) * a.outer_step + (a.inner - 1) * a.inner_step + 1 + random.in(0, 3);
  if (random.one_in(4)) {
    std::int32_t* const counted[] = {&a.input_count, &a.first, &a.outer_step, &a.inner_step};
    *counted[random.below(4)] += random.in(-4, 4);
  }
}

/// Any numbers in their ranges and small sizes, for operators whose fields describe everything.
void redraw_fields(std::uint16_t opcode, void* args, Random& random) {
  const OperatorFields& fields = kOperatorFields[opcode];
  const OperatorField* before = nullptr;
  for (const OperatorField& field : fields) {
    if (field.ranged) {
      // Of two limits, the upper one is at least the lower one.
      const bool paired = field.related && before != nullptr && before->related &&
                          before->low == field.low && before->high == field.high;
      const std::int32_t low = paired ? before->at.get(args) : field.low;
      if (field.high == INT32_MAX && field.low <= 0) {  // a multiplier
        const bool negative = field.low < 0 && random.one_in(2);
        field.at.set(args, negative ? -q31(random) : q31(random));
      } else {
        field.at.set(args, random.in(low, field.high));
      }
    }
    before = &field;
    if (field.kind == FieldKind::kInput) {
      for (unsigned i = 0; i < field.factor_count; ++i) {
        const std::int32_t most = field.factor_count == 1 && random.one_in(2) ? 300 : 20;
        field.factors[i].set(args, random.one_in(3) ? 1 : random.in(1, most));
      }
    }
  }
}

/// Any parameters, and operands that are repeated along some dimensions; in every eighth call they do not fit.
template <typename Args>
void redraw_broadcast(std::uint16_t opcode, Args& a, Random& random) {
  redraw_fields(opcode, &a, random);
  const auto draw = [&random](std::int32_t& in1, std::int32_t& in2, std::int32_t& out,
                              std::int32_t most) {
    out = in1 = in2 = random.one_in(2) ? 1 : random.in(1, most);
    if (random.one_in(2)) {
      (random.one_in(2) ? in1 : in2) = 1;
    }
  };
  draw(a.input1_dims.n, a.input2_dims.n, a.output_dims.n, 3);
  draw(a.input1_dims.h, a.input2_dims.h, a.output_dims.h, 5);
  draw(a.input1_dims.w, a.input2_dims.w, a.output_dims.w, 5);
  draw(a.input1_dims.c, a.input2_dims.c, a.output_dims.c, random.one_in(4) ? 150 : 12);
  if (random.one_in(8)) {
    (random.one_in(2) ? a.input1_dims : a.output_dims).w += random.in(-1, 1);
  }
}

}  // namespace

void redraw(std::uint16_t opcode, void* args, Random& random) {
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::kConv2d:
      return redraw_conv2d(*static_cast<payload::Conv2dArgs*>(args), random);
    case Opcode::kConv2dLarge:
      return redraw_conv2d(*static_cast<payload::Conv2dLargeArgs*>(args), random);
    case Opcode::kConv2dVectors:
      return redraw_vectors(*static_cast<payload::Conv2dVectorsArgs*>(args), random, 1);
    case Opcode::kConv2dGroupedVectors:
      return redraw_vectors(*static_cast<payload::Conv2dGroupedVectorsArgs*>(args), random,
                            random.in(1, 4));
    case Opcode::kDepthwiseConv2dVectors:
      return redraw_depthwise_vectors(*static_cast<payload::DepthwiseConv2dVectorsArgs*>(args),
                                      random, 8);
    case Opcode::kDepthwiseConv2dWindows: {
      auto& windows = *static_cast<payload::DepthwiseConv2dWindowsArgs*>(args);
      windows.strips = random.one_in(2) ? random.in(1, 8) : 1;
      return redraw_depthwise_vectors(windows, random, 1);
    }
    case Opcode::kDepthwiseConv2d:
      return redraw_depthwise(*static_cast<payload::DepthwiseConv2dArgs*>(args), random);
    case Opcode::kDepthwiseConv2dPlanes:
      return redraw_planes(*static_cast<payload::DepthwiseConv2dPlanesArgs*>(args), random);
    case Opcode::kDepthwiseConv2d5x5:
      return redraw_fives(*static_cast<payload::DepthwiseConv2d5x5Args*>(args), random);
    case Opcode::kDepthwiseConv2dColumns:
      return redraw_columns(*static_cast<payload::DepthwiseConv2dColumnsArgs*>(args), random);
    case Opcode::kDepthwiseConv2dLines:
      return redraw_lines(*static_cast<payload::DepthwiseConv2dLinesArgs*>(args), random);
    case Opcode::kFullyConnected:
      return redraw_linear(*static_cast<payload::FullyConnectedArgs*>(args), random);
    case Opcode::kFullyConnectedPerTensor: {
      auto& a = *static_cast<payload::FullyConnectedPerTensorArgs*>(args);
      a.multiplier = q31(random);
      a.shift = random.in(-31, 30);
      return redraw_linear(a, random);
    }
    case Opcode::kAvgPool2d:
      return redraw_pool(*static_cast<payload::AvgPool2dArgs*>(args), random);
    case Opcode::kMaxPool2dChannels:
      return redraw_pool(*static_cast<payload::MaxPool2dChannelsArgs*>(args), random);
    case Opcode::kAvgPool2dChannels:
      return redraw_pool(*static_cast<payload::AvgPool2dChannelsArgs*>(args), random);
    case Opcode::kMaxPool2d:
      return redraw_pool(*static_cast<payload::MaxPool2dArgs*>(args), random);
    case Opcode::kSoftmax:
      return redraw_softmax(*static_cast<payload::SoftmaxArgs*>(args), random);
    case Opcode::kSoftmaxLong:
      return redraw_softmax(*static_cast<payload::SoftmaxLongArgs*>(args), random);
    case Opcode::kMaskedSoftmax: {
      auto& a = *static_cast<payload::MaskedSoftmaxArgs*>(args);
      a.mask_rows = random.in(1, 5);
      return redraw_softmax(a, random);
    }
    case Opcode::kStridedCopyVectors:
      return redraw_strided_copy(*static_cast<payload::StridedCopyVectorsArgs*>(args), random);
    case Opcode::kStridedCopy:
      return redraw_strided_copy(*static_cast<payload::StridedCopyArgs*>(args), random);
    case Opcode::kAddBroadcast:
      return redraw_broadcast(opcode, *static_cast<payload::AddBroadcastArgs*>(args), random);
    case Opcode::kMulBroadcast:
      return redraw_broadcast(opcode, *static_cast<payload::MulBroadcastArgs*>(args), random);
    case Opcode::kDiv:
      return redraw_broadcast(opcode, *static_cast<payload::DivArgs*>(args), random);
    case Opcode::kMinimum:
      return redraw_broadcast(opcode, *static_cast<payload::MinimumArgs*>(args), random);
    case Opcode::kMaximum:
      return redraw_broadcast(opcode, *static_cast<payload::MaximumArgs*>(args), random);
    case Opcode::kEmbedding:
      return redraw_embedding(*static_cast<payload::EmbeddingArgs*>(args), random);
    case Opcode::kEmbeddingInt32:
      return redraw_embedding(*static_cast<payload::EmbeddingInt32Args*>(args), random);
    case Opcode::kLastStep:
      return redraw_last_step(*static_cast<payload::LastStepArgs*>(args), random);
    case Opcode::kLastStepInt16:
      return redraw_last_step(*static_cast<payload::LastStepInt16Args*>(args), random);
    case Opcode::kPadNd:
      return redraw_pad_nd(*static_cast<payload::PadNdArgs*>(args), random);
    default:
      return redraw_fields(opcode, args, random);
  }
}

}  // namespace cmsis_nn_delegate::fuzz
