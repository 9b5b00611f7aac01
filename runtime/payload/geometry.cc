#include "runtime/payload/geometry.h"

#include <cstring>

namespace cmsis_nn_delegate::geometry {
namespace {

using payload::Dims;
using payload::PackedDims;
using payload::Tile;

/// These fit as many bits as kMaxDim has only if every size is in [1, kMaxDim + 1]: 0 - 1 has all
/// bits. One more than kMaxDim is too large for an operand, and no position fits such a step.
std::uint32_t less_one(std::int32_t size) { return static_cast<std::uint32_t>(size) - 1; }
std::uint32_t range_bits(const Dims& d) {
  return less_one(d.n) | less_one(d.h) | less_one(d.w) | less_one(d.c);
}
std::uint32_t range_bits(const Tile& t) { return less_one(t.w) | less_one(t.h); }

constexpr unsigned kDimBits = 28;
static_assert(payload::kMaxDim == (1 << kDimBits) - 1, "the limit is a number of bits");

/// These fit as many bits as `value` has without its sign.
std::uint32_t magnitude_bits(std::int32_t value) {
  return static_cast<std::uint32_t>(value < 0 ? ~value : value);
}

std::uint64_t wide(std::int32_t a, std::int32_t b) {
  return std::uint64_t{static_cast<std::uint32_t>(a)} * static_cast<std::uint32_t>(b);
}

/// Whether a window may lie entirely in the padding.
enum class Overlap : std::uint8_t { kOptional, kRequired };

/// Checks one axis of a convolution or pooling whose values are all in range. A window has `taps`
/// positions `dilation` apart; the first window starts at -padding, each next one `stride` later.
/// No window that ends before the input's end may be missing: CMSIS-NN's 1x1 kernels compute as
/// many outputs as there are inputs. All values are at most kMaxDim, and so are the products.
bool fits_window(std::int32_t in, std::int32_t taps, std::int32_t out, std::int32_t stride,
                 std::int32_t padding, std::int32_t dilation, Overlap overlap) {
  const std::int32_t extent = (taps - 1) * dilation + 1;  // of a window
  const std::int32_t end = out * stride;                  // of the windows, from -padding
  // If the first and the last window are fine, all others are.
  const bool overlaps = padding < extent && end - stride - padding < in;
  return end + extent > in + padding && (overlaps || overlap == Overlap::kOptional);
}

/// Whether positions on an axis of a transposed convolution are at most kMaxDim.
bool fits_sums(std::int32_t in, std::int32_t taps, std::int32_t stride, std::int32_t dilation) {
  return !bounds::beyond(wide(in, stride) | wide(taps - 1, dilation));
}

constexpr char kOutOfRange[] = "dimension, stride, padding or dilation out of range";
constexpr char kBatch[] = "input and output differ in batch";
constexpr char kPooledChannels[] = "input and output differ in channels";
constexpr char kChannels[] = "channels, groups and filters do not agree";

/// Whether `filter` has a filter of as many channels as each group of `in` for each channel of `out`.
template <typename Sizes>
bool channels_agree(const Sizes& in, const Sizes& filter, const Sizes& out) {
  const std::int32_t groups = in.c / filter.c;
  return groups >= 1 && groups * filter.c == in.c && out.c % groups == 0 && filter.n == out.c;
}

/// Checks one axis of convolutions and pooling; not inlined, so that blocks of 16 and of 32 bits share it.
[[gnu::noinline]] bool axis_fits(const CallCheck& call, std::int32_t in, std::int32_t taps,
                                 std::int32_t out, std::int32_t stride, std::int32_t padding,
                                 std::int32_t dilation, Overlap overlap) {
  const std::uint32_t bits = less_one(in) | less_one(taps) | less_one(out) | less_one(stride) |
                             less_one(dilation) | static_cast<std::uint32_t>(padding);  // may be 0
  // Products of smaller numbers are not beyond it; some cores multiply long numbers in many steps.
  const bool small = bits >> (kDimBits / 2 - 1) == 0;
  return call.require((bits >> kDimBits) == 0, kOutOfRange) &&
         call.require((small || !bounds::beyond(wide(taps - 1, dilation) | wide(out, stride))) &&
                          fits_window(in, taps, out, stride, padding, dilation, overlap),
                      "stride, padding, dilation and sizes do not fit together");
}

/// The geometry shared by convolutions and pooling. `Sizes` is Dims or PackedDims, and `Steps` Tile or PackedTile.
template <typename Sizes, typename Steps>
[[gnu::noinline]] bool windows(const CallCheck& call, const Sizes& in, const Sizes& filter,
                               const Sizes& out, const Steps& stride, const Steps& padding,
                               const Steps& dilation, Overlap overlap) {
  const std::uint32_t bits = less_one(in.n) | less_one(in.c) | less_one(filter.n) |
                             less_one(filter.c) | less_one(out.n) | less_one(out.c);
  return call.require((bits >> kDimBits) == 0, kOutOfRange) &&
         call.require(in.n == out.n, kBatch) &&
         axis_fits(call, in.h, filter.h, out.h, stride.h, padding.h, dilation.h, overlap) &&
         axis_fits(call, in.w, filter.w, out.w, stride.w, padding.w, dilation.w, overlap);
}

}  // namespace

bool convolution(const CallCheck& call, const payload::ConvParams& p, const Dims& in,
                 const Dims& filter, const Dims& out) {
  return windows(call, in, filter, out, p.stride, p.padding, p.dilation, Overlap::kOptional) &&
         call.require(channels_agree(in, filter, out), kChannels);
}

bool convolution(const CallCheck& call, const payload::PackedConvParams& p, const PackedDims& in,
                 const PackedDims& filter, const PackedDims& out) {
  return windows(call, in, filter, out, p.stride, p.padding, p.dilation, Overlap::kOptional) &&
         call.require(channels_agree(in, filter, out), kChannels);
}

bool transposed_convolution(const CallCheck& call, const payload::ConvParams& params,
                            const Dims& in, const Dims& filter, const Dims& out) {
  const std::uint32_t bits =
      range_bits(in) | range_bits(filter) | range_bits(out) | range_bits(params.stride) |
      range_bits(params.dilation) |
      static_cast<std::uint32_t>(params.padding.h | params.padding.w);  // may be 0
  return call.require((bits >> kDimBits) == 0, kOutOfRange) &&
         call.require(fits_sums(in.h, filter.h, params.stride.h, params.dilation.h) &&
                          fits_sums(in.w, filter.w, params.stride.w, params.dilation.w),
                      kOutOfRange) &&
         call.require(in.n == out.n, kBatch) &&
         call.require(channels_agree(in, filter, out), kChannels);
}

bool depthwise_convolution(const CallCheck& call, const payload::PackedDwConvParams& p,
                           const PackedDims& in, const PackedDims& filter, const PackedDims& out) {
  return windows(call, in, filter, out, p.stride, p.padding, p.dilation, Overlap::kOptional) &&
         call.require(
             bounds::volume(p.ch_mult, in.c) == out.c && filter.c == out.c && filter.n == 1,
             "channels, multiplier and filters do not agree");
}

bool pooling(const CallCheck& call, const payload::PoolParams& params, const Dims& in,
             const Dims& filter, const Dims& out) {
  constexpr Tile kNoDilation = {1, 1};
  return windows(call, in, filter, out, params.stride, params.padding, kNoDilation,
                 Overlap::kRequired) &&
         call.require(in.c == out.c, kPooledChannels);
}

bool dilated_pooling(const CallCheck& call, const payload::MaxPool2dDilatedArgs& args) {
  const Dims& in = args.input_dims;
  const Dims& out = args.output_dims;
  return windows(call, in, args.filter_dims, out, args.params.stride, args.params.padding,
                 args.dilation, Overlap::kOptional) &&
         call.require(in.c == out.c, kPooledChannels);
}

bool resizing(const CallCheck& call, const Dims& in, const Dims& out) {
  // The kernels multiply two of these.
  const bool sizes = in.h <= payload::kMaxResized && in.w <= payload::kMaxResized &&
                     out.h <= payload::kMaxResized && out.w <= payload::kMaxResized;
  return call.require(sizes && ((range_bits(in) | range_bits(out)) >> kDimBits) == 0,
                      kOutOfRange) &&
         call.require(in.n == out.n, kBatch) && call.require(in.c == out.c, kPooledChannels);
}

bool ctc_greedy(const CallCheck& call, std::int32_t steps, std::int32_t classes,
                std::int32_t written, std::int32_t blank, std::int32_t seen) {
  return call.require(
      0 <= seen && seen < steps && written == steps - seen && 0 <= blank && blank < classes,
      "steps, classes and what is decoded do not fit together");
}

bool camera_image(const CallCheck& call, const payload::CameraImageArgs& args) {
  const Dims& in = args.frame_dims;
  const Dims& out = args.output_dims;
  const payload::Crop& crop = args.crop;
  // The kernels count with two of these.
  const bool sizes = in.h <= payload::kMaxResized && in.w <= payload::kMaxResized &&
                     out.h <= payload::kMaxResized && out.w <= payload::kMaxResized;
  return call.require(sizes && ((range_bits(in) | range_bits(out)) >> kDimBits) == 0,
                      kOutOfRange) &&
         call.require(in.c == 2 && in.w % 2 == 0 && (out.c == 1 || out.c == 3),
                      "pixels or channels are not those of a camera") &&
         call.require(in.n == out.n, kBatch) &&
         call.require(1 <= crop.h && crop.h <= in.h && 0 <= crop.top && crop.top <= in.h - crop.h &&
                          1 <= crop.w && crop.w <= in.w && 0 <= crop.left &&
                          crop.left <= in.w - crop.w,
                      "the crop does not lie in the frame");
}

bool batch_matmul(const CallCheck& call, const Dims& a, const Dims& b, const Dims& out) {
  const std::uint32_t bits = range_bits(a) | range_bits(b) | range_bits(out);
  const auto broadcasts = [](std::int32_t first, std::int32_t second, std::int32_t result) {
    return result == (first == 1 ? second : first) && (second == result || second == 1);
  };
  return call.require((bits >> kDimBits) == 0 && a.c <= payload::kMaxProducts,
                      "dimension of a matrix out of range") &&
         call.require(a.c == b.c && out.w == a.w && out.c == b.w, "matrices do not fit together") &&
         call.require(broadcasts(a.n, b.n, out.n) && broadcasts(a.h, b.h, out.h),
                      "batches of matrices do not fit together");
}

namespace {

template <typename Args>
bool normalize_groups(const CallCheck& call, const Args& args, std::int32_t max_group) {
  constexpr auto kMost = static_cast<std::int32_t>(payload::kMaxRefOffset);
  const bool sizes =
      bounds::in_range(args.outer, 1, max_group) && bounds::in_range(args.inner, 1, max_group) &&
      bounds::in_range(args.groups, 1, kMost) && bounds::in_range(args.rows, 1, kMost) &&
      bounds::in_range(args.parameters, 1, kMost) && bounds::in_range(args.group_step, 0, kMost) &&
      bounds::in_range(args.outer_step, 0, kMost) && bounds::in_range(args.inner_step, 0, kMost);
  if (!call.require(sizes, "size or step of a normalization out of range")) {
    return false;
  }
  const std::int64_t last = (args.groups - std::int64_t{1}) * args.group_step +
                            (args.outer - std::int64_t{1}) * args.outer_step +
                            (args.inner - std::int64_t{1}) * args.inner_step;
  return call.require(
             bounds::volume(args.outer, args.inner) <= static_cast<std::uint32_t>(max_group),
             "a group is too large") &&
         call.require(args.rows % args.groups == 0, "groups do not divide the rows") &&
         call.require(last < args.parameters, "a group reads outside of its parameters");
}

}  // namespace

// Sums of so many squares and their products with the size fit 64 bits, ...
bool normalize(const CallCheck& call, const payload::NormalizeArgs& args) {
  return normalize_groups(call, args, 1 << 20);
}

// ... and so do sums of so many differences times a factor of 31 bits.
bool normalize(const CallCheck& call, const payload::NormalizeInt16Args& args) {
  return normalize_groups(call, args, 1 << 15);
}

bool strided_copy(const CallCheck& call, const payload::StridedCopyArgs& args) {
  const payload::CopyAxis* const axes[] = {&args.axis0, &args.axis1, &args.axis2,
                                           &args.axis3, &args.axis4, &args.axis5};
  // The least and the greatest element that is read, and the greatest that is written, modulo 2^64:
  // none of these sums exceeds 60 bits if sizes and strides have kRefOffsetBits.
  auto first = static_cast<std::uint64_t>(args.input_offset);
  std::uint64_t last = first;
  auto written = static_cast<std::uint64_t>(args.output_offset);
  auto bits = static_cast<std::uint32_t>(args.output_offset);
  std::uint32_t copied = 1;
  for (const payload::CopyAxis* axis : axes) {
    const auto size = static_cast<std::uint32_t>(axis->size);
    const auto steps = static_cast<std::int32_t>(size - 1);
    const std::int64_t reach = std::int64_t{steps} * axis->input_stride;
    (reach < 0 ? first : last) += static_cast<std::uint64_t>(reach);
    written += static_cast<std::uint64_t>(std::int64_t{steps} * axis->output_stride);
    bits |= (size - 1) | static_cast<std::uint32_t>(axis->output_stride) |
            magnitude_bits(axis->input_stride);
    copied = bounds::product(copied, size);
  }
  return call.require((bits >> payload::kRefOffsetBits) == 0 &&
                          static_cast<std::int64_t>(first) >= 0 &&
                          static_cast<std::int64_t>(last) < args.input_count &&
                          static_cast<std::int64_t>(written) < args.output_count,
                      "a copy reads or writes outside of its operands") &&
         // Otherwise it writes elements again and again, and a call of few bytes takes for ever.
         call.require(copied <= bounds::volume(args.output_count),
                      "a copy has more steps than its output has elements");
}

bool broadcast(const CallCheck& call, const Dims& in1, const Dims& in2, const Dims& out) {
  // One after the other, because this takes less flash than four times the same.
  const Dims* const tensors[] = {&in1, &in2, &out};
  std::int32_t sizes[3][4];
  for (unsigned i = 0; i < 3; ++i) {
    std::memcpy(sizes[i], tensors[i], sizeof(sizes[i]));
  }
  bool fits = true;
  for (unsigned dim = 0; dim < 4; ++dim) {
    const std::int32_t a = sizes[0][dim];
    const std::int32_t b = sizes[1][dim];
    const std::int32_t larger = sizes[2][dim];
    fits = fits && bounds::in_range(larger, 1, payload::kMaxDim) &&
           ((a == larger && (b == larger || b == 1)) || (a == 1 && b == larger));
  }
  return call.require(fits, "the sizes of the operands and the output do not fit together");
}

bool pad_nd(const CallCheck& call, const payload::PadNdArgs& args) {
  constexpr std::int32_t kReflect = 1;
  const payload::PadAxis* const axes[] = {&args.axis0, &args.axis1, &args.axis2,
                                          &args.axis3, &args.axis4, &args.axis5};
  auto read = static_cast<std::uint32_t>(args.row_size);
  std::uint32_t written = read;
  std::uint32_t bits = 0;
  std::int32_t beyond = 0;  // negative if an axis reflects more than it has
  for (const payload::PadAxis* axis : axes) {
    const auto size = static_cast<std::uint32_t>(axis->input_size);
    const auto output_size = static_cast<std::uint32_t>(axis->output_size);
    const auto before = static_cast<std::uint32_t>(axis->before);
    read = bounds::product(read, size);
    written = bounds::product(written, output_size);
    bits |= (size - 1) | (output_size - 1) | magnitude_bits(axis->before);
    // Positions from -before to output_size - 1 - before are reflected once, at 0 or at size - 1.
    // None of these numbers exceeds 31 bits if sizes have kRefOffsetBits.
    beyond |= static_cast<std::int32_t>(size - 1 - before) |
              static_cast<std::int32_t>(2 * size - 1 + before - output_size);
  }
  return call.require((bits >> payload::kRefOffsetBits) == 0 &&
                          read == bounds::volume(args.input_count) &&
                          written == bounds::volume(args.output_count),
                      "the sizes of a pad are not those of its operands") &&
         call.require(args.mode != kReflect || beyond >= 0,
                      "a pad reflects more than the dimension has");
}

bool embedding(const CallCheck& call, std::int32_t count, std::int32_t first, std::int32_t outer,
               std::int32_t outer_step, std::int32_t inner, std::int32_t inner_step) {
  const std::uint32_t bits =
      static_cast<std::uint32_t>(first) | (static_cast<std::uint32_t>(outer) - 1) |
      static_cast<std::uint32_t>(outer_step) | (static_cast<std::uint32_t>(inner) - 1) |
      static_cast<std::uint32_t>(inner_step);
  // Fits 58 bits if the numbers have kRefOffsetBits.
  const std::int64_t last =
      first + (outer - std::int64_t{1}) * outer_step + (inner - std::int64_t{1}) * inner_step;
  return call.require((bits >> payload::kRefOffsetBits) == 0 && last < count,
                      "a look-up reads indices outside of its input");
}

bool recurrent_layer(const CallCheck& call, std::int32_t rows, std::int32_t hidden,
                     std::int32_t gates) {
  // 0 for what has kDimBits, as everything that is allowed has.
  const std::uint32_t bits = less_one(rows) | less_one(hidden);
  return call.require(
      (bits >> kDimBits) == 0 && wide(hidden, gates) == static_cast<std::uint32_t>(rows),
      "the rows of a recurrent layer are not those of its gates");
}

bool sequence_lengths(const CallCheck& call, std::int32_t length_bytes, std::int32_t batch) {
  return call.require(less_one(batch) >> kDimBits == 0 &&
                          (static_cast<std::uint32_t>(length_bytes) == wide(batch, 4) ||
                           static_cast<std::uint32_t>(length_bytes) == wide(batch, 8)),
                      "the lengths of sequences are not those of its batch");
}

bool held(const CallCheck& call, std::int32_t nbytes, std::int32_t initial_bytes) {
  const bool repeats = (initial_bytes == 1 || initial_bytes == 2) && nbytes % initial_bytes == 0;
  return call.require(initial_bytes == nbytes || repeats,
                      "a state has neither one initial number nor one for each element");
}

bool delay_line(const CallCheck& call, std::int32_t state_bytes, std::int32_t initial_bytes,
                std::int32_t rows, std::int32_t row_bytes, std::int32_t count) {
  const bool is_one = (initial_bytes == 1 || initial_bytes == 2) && row_bytes % initial_bytes == 0;
  return call.require(row_bytes >= 1 && 1 <= count && count <= rows &&
                          std::int64_t{rows} * row_bytes + 4 == state_bytes,
                      "the rows of a delay line do not fill its state") &&
         call.require(initial_bytes == state_bytes - 4 || is_one,
                      "a delay line has neither one initial number nor one for each element");
}

bool delay_line(const CallCheck& call, const payload::DelayLineReadArgs& args) {
  return delay_line(call, args.state_bytes, args.initial_bytes, args.rows, args.row_bytes,
                    args.count) &&
         call.require(args.first >= 0 && args.step >= 1 && args.step <= args.rows &&
                          args.first + (args.count - std::int64_t{1}) * args.step < args.rows,
                      "a delay line has not all rows that are read");
}

bool log_mel(const CallCheck& call, std::int32_t samples, std::int32_t hop, std::int32_t frames,
             std::int32_t frame_length, std::int32_t fft_length) {
  return call.require(
             1 <= frame_length && frame_length <= fft_length &&
                 (fft_length & (fft_length - 1)) == 0,
             "a spectrum is not of a power of two, or of fewer samples than a frame has") &&
         call.require(
             hop >= 1 && frames >= 1 && (frames - std::int64_t{1}) * hop + frame_length <= samples,
             "frames of sound lie beyond its samples");
}

}  // namespace cmsis_nn_delegate::geometry
