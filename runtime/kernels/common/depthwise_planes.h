// Depthwise convolution of 3 x 3 taps, four channels and two rows of outputs at a time. Where scratch memory is short,
// rows are computed in strips.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/kernels/common/channel_planes.h"
#include "runtime/kernels/common/depthwise_3x3.h"
#include "runtime/kernels/common/each_image.h"
#include "runtime/kernels/common/nibble_planes.h"
#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Returns how many outputs of a row are computed at a time, an even number: at least a whole row if
/// there is one strip.
template <typename Args>
std::int32_t plane_strip_outputs(const Args& a) {
  const std::int32_t outputs = a.along_height != 0 ? a.output_dims.h : a.output_dims.w;
  return (outputs + 2 * a.strips - 1) / (2 * a.strips) * 2;
}

/// Stands for both strides.
inline constexpr std::int32_t kAnyStride = 0;

/// Computes one call. `Planes` has the functions of PlainChannelPlanes. With a `kStride`, it computes calls of that
/// stride alone, and links nothing of the other one.
template <typename Planes, typename Args, std::int32_t kStride>
class DepthwisePlanes {
 public:
  using Element = typename Planes::Element;

  /// `args` is borrowed.
  DepthwisePlanes(const Args& args, std::int32_t* planes)
      : args_(args),
        planes_(planes),
        channels_(args.output_dims.c),
        stride_(args.params.stride.h),
        strip_outputs_(plane_strip_outputs(args)),
        rows_(channel_planes::rows(stride())),
        column_words_(channel_planes::kChannels * rows_) {
    const depthwise_3x3::Axes axes(args);
    x_ = axes.x;
    y_ = axes.y;
    set_limits();
    if (!in_strips()) {
      set_strip(0, x_.out);
      clear();
    }
  }

  void run(const Element* image, Element* output, const std::int32_t* table) {
    strip_.table = kNibbles ? nibble_table_ : table;
    for (std::int32_t first = 0; first < channels_; first += channel_planes::kChannels) {
      const std::int32_t left = channels_ - first;
      const bool all = left >= channel_planes::kChannels;
      // The last one to three are read together with channels before them, because there may be no
      // memory after them.
      const std::int32_t before = all || first == 0 ? 0 : channel_planes::kChannels - left;
      strip_.channels = all ? channel_planes::kChannels : left;
      strip_.planes = planes_ + before * rows_;
      if constexpr (kNibbles) {
        table = nibble_planes::unpack(table, args_.channel_words, strip_.channels, nibble_table_);
      }
      if (!in_strips()) {
        group(image + first - before, output + first);
      } else if (stride() == 1) {
        group_by_strips(image + first - before, output + first);
      } else {
        group_by_rows(image + first - before, output + first);
      }
      if constexpr (!kNibbles) {
        strip_.table += strip_.channels * channel_planes::kWords;
      }
    }
  }

 private:
  static constexpr auto kBytes = static_cast<std::int32_t>(sizeof(Element));
  static constexpr bool kNibbles = std::is_same_v<Args, payload::DepthwiseConv2dInt4PlanesArgs>;

  void set_limits() {
    const auto& limits = args_.params.activation;
    strip_.least = repeated<Element>(limits.min);
    strip_.most = repeated<Element>(limits.max);
    strip_.limited = is_limited<Element>(limits);
    strip_.column_bytes = x_.out_step * kBytes;
    if constexpr (kBytes == 1) {
      strip_.half_steps = 2 * args_.params.output_offset + 1;
    }
    row_.padding = repeated<Element>(zero_point());
    row_.pixel_bytes = x_.in_step * kBytes;
    row_.channel_bytes = rows_ * 4;
  }

  std::int32_t stride() const { return kStride != kAnyStride ? kStride : stride_; }
  bool in_strips() const { return strip_outputs_ < x_.out; }

  /// Prepares for `outputs` outputs of a row from output `x` on.
  [[gnu::noinline]] void set_strip(std::int32_t x, std::int32_t outputs) {
    columns_ = (outputs + 1) / 2 * stride() + 1;
    const std::int32_t begin = x * stride() - x_.padding;
    const std::int32_t before = begin < 0 ? -begin : 0;
    skipped_ = begin > 0 ? begin : 0;
    const std::int32_t room = columns_ * 2 - before;
    const std::int32_t left = x_.in - skipped_;
    const std::int32_t wanted = room < left ? room : left;
    pixels_ = wanted < 0 ? 0 : wanted;
    row_.first = pixels_ != 0 ? before % 2 : 0;
    row_.pairs = (pixels_ - row_.first) / 2;
    row_.last = (pixels_ - row_.first) % 2;
    first_column_ = before / 2;
    strip_.pairs_bytes = outputs / 2 * stride() * column_words_ * 4;
    strip_.last = outputs % 2;
  }

  std::int32_t zero_point() const {
    if constexpr (kBytes == 1) {
      return -args_.params.input_offset;
    }
    return 0;
  }

  std::int32_t padding_pair() const { return channel_planes::pair(zero_point(), zero_point()); }

  /// Fills the planes with padding, of which the columns left and right of the image stay.
  void clear() {
    const std::int32_t words = columns_ * column_words_;
    const std::int32_t padding = padding_pair();
    for (std::int32_t i = 0; i < words; ++i) {
      planes_[i] = padding;
    }
  }

  [[gnu::noinline]] void clear_columns(std::int32_t row, std::int32_t begin, std::int32_t end) {
    const std::int32_t padding = padding_pair();
    std::int32_t* word = planes_ + begin * column_words_ + row;
    for (std::int32_t i = begin; i < end; ++i, word += column_words_) {
      word[0] = padding;
      word[rows_] = padding;
      word[2 * rows_] = padding;
      word[3 * rows_] = padding;
    }
  }

  /// Reads the rows `y` and following of the image into rows `begin` to `end` of the planes, except
  /// for the columns left and right of the image.
  [[gnu::noinline]] void read_rows(const Element* image, std::int32_t y, std::int32_t begin,
                                   std::int32_t end) {
    for (std::int32_t i = begin; i < end; ++i, ++y) {
      if (y < 0 || y >= y_.in) {
        clear_columns(i, 0, columns_);
      } else if (pixels_ != 0) {
        const Element* row = image + y * y_.in_step + skipped_ * x_.in_step;
        std::int32_t* const to = planes_ + first_column_ * column_words_ + i;
        if (channels_ >= channel_planes::kChannels) {
          Planes::fill(row, to, row_);
        } else {
          channel_planes::fill(row, to, row_, channels_);
        }
      }
    }
  }

  void filter(Element* output, bool two) {
    strip_.output = output;
    strip_.row_bytes = two ? y_.out_step * kBytes : 0;
    stride() == 1 ? Planes::filter_stride1(strip_) : Planes::filter_stride2(strip_);
  }

  /// Computes up to four channels.
  [[gnu::noinline]] void group(const Element* image, Element* output) {
    std::int32_t begin = 0;
    std::int32_t top = -y_.padding;
    for (std::int32_t y = 0; y < y_.out; y += channel_planes::kRowsAtATime) {
      const bool two = y + 1 < y_.out;
      read_rows(image, top + begin, begin, two ? rows_ : channel_planes::kTaps);
      filter(output, two);
      begin = channel_planes::kTaps - stride();
      top += channel_planes::kRowsAtATime * stride();
      output += channel_planes::kRowsAtATime * y_.out_step;
    }
  }

  /// The same, one strip from top to bottom after the other.
  [[gnu::noinline]] void group_by_strips(const Element* image, Element* output) {
    for (std::int32_t x = 0; x < x_.out; x += strip_outputs_) {
      const std::int32_t left = x_.out - x;
      set_strip(x, left < strip_outputs_ ? left : strip_outputs_);
      clear();
      group(image, output + x * x_.out_step);
    }
  }

  /// The same, all strips of two rows of outputs before the next two. Rows are read again for each two
  /// rows, because the planes of the other strips have replaced them. The first row is computed alone.
  /// Results may lie over inputs then; see depthwise_planes_overlaps().
  [[gnu::noinline]] void group_by_rows(const Element* image, Element* output) {
    for (std::int32_t y = 0; y < y_.out;) {
      const bool two = y != 0 && y + 1 < y_.out;
      const std::int32_t top = y * stride() - y_.padding;
      for (std::int32_t x = 0; x < x_.out; x += strip_outputs_) {
        const std::int32_t left = x_.out - x;
        set_strip(x, left < strip_outputs_ ? left : strip_outputs_);
        const std::int32_t rows = two ? rows_ : channel_planes::kTaps;
        const std::int32_t begin = pixels_ == 0 ? 0 : first_column_;
        const std::int32_t end = begin + row_.first + row_.pairs + row_.last;
        if (begin != 0 || end != columns_) {  // in most strips there are none beside the image
          for (std::int32_t i = 0; i < rows; ++i) {
            clear_columns(i, 0, begin);
            clear_columns(i, end, columns_);
          }
        }
        read_rows(image, top, 0, rows);
        filter(output + y * y_.out_step + x * x_.out_step, two);
      }
      y += two ? channel_planes::kRowsAtATime : 1;
    }
  }

  const Args& args_;
  std::int32_t* planes_;
  std::int32_t channels_;
  std::int32_t stride_;
  std::int32_t strip_outputs_;
  std::int32_t rows_;          // of planes
  std::int32_t column_words_;  // of the planes of four channels
  depthwise_3x3::Axis x_{};
  depthwise_3x3::Axis y_{};
  // Of a strip: words of a row of a plane, pixels of a row of the image and how many lie before them, and the
  // column of the planes where they begin.
  std::int32_t columns_ = 0;
  std::int32_t pixels_ = 0;
  std::int32_t skipped_ = 0;
  std::int32_t first_column_ = 0;
  PlaneRow row_{};
  PlaneRowsOf<Element> strip_{};
  // Of a group of channels, as the inner loops read it.
  std::int32_t nibble_table_[kNibbles ? channel_planes::kChannels * channel_planes::kWords : 1];
};

/// The body of a kernel's function, which has no call more for it.
template <typename Planes, typename Args, std::int32_t kStride = kAnyStride>
[[gnu::always_inline]] inline Error compute_depthwise_planes(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  DepthwisePlanes<Planes, Args, kStride> planes(a, bases.resolve<std::int32_t>(a.scratch));
  for_each_image<typename Planes::Element>(a, bases, planes);
  return Error::Ok;
}

/// Returns the scratch memory that one call needs: see DepthwiseConv2dPlanes.scratch_bytes in
/// Python.
template <typename Args>
std::uint32_t depthwise_planes_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  const auto stride = static_cast<std::uint32_t>(a.params.stride.h);
  const std::int32_t row = a.along_height != 0 ? a.output_dims.h : a.output_dims.w;
  const std::int32_t strip = plane_strip_outputs(a);
  const auto outputs = static_cast<std::uint32_t>(strip < row ? strip : row);
  return ((outputs + 1) / 2 * stride + 1) * channel_planes::kChannels *
         (channel_planes::kTaps + stride) * 4;
}

template <typename Args, std::int32_t kStride>
bool depthwise_planes_accepts(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  return depthwise_3x3::accepts(a) && (kStride == kAnyStride || a.params.stride.h == kStride);
}

/// Returns whether outputs that start where the inputs do lie on inputs that are no longer read, as
/// overlaps_exactly() in aot/cmsis_nn_delegate/providers/tuned/plane_order.py explains.
template <typename Args>
bool depthwise_planes_overlaps(const void* args, std::int32_t distance) {
  const auto& a = *static_cast<const Args*>(args);
  const payload::PackedDims& in = a.input_dims;
  const payload::PackedDims& out = a.output_dims;
  const std::int32_t strip = plane_strip_outputs(a);
  if (strip >= (a.along_height != 0 ? out.h : out.w)) {
    return depthwise_3x3::rows_overlap(a, distance);
  }
  const payload::PackedTile& padding = a.params.padding;
  return distance == 0 && out.h <= in.h && out.w <= in.w && a.along_height == 0 &&
         a.params.stride.h == 2 && padding.h <= 1 && padding.w <= strip &&
         2 * out.w + padding.w <= (2 - padding.h) * in.w + strip;
}

/// Returns the kernel with the argument block `Args` whose `run` calls compute_depthwise_planes(), for all calls or those
/// with one stride.
template <typename Args, std::int32_t kStride = kAnyStride>
constexpr Kernel depthwise_planes_kernel(const Operator& op, Kernel::Run run) {
  return Kernel(op, run, depthwise_planes_scratch_bytes<Args>)
      .limited_to(depthwise_planes_accepts<Args, kStride>)
      .overlapping(depthwise_planes_overlaps<Args>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
