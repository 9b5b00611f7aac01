// Depthwise convolution of up to 5 x 5 taps, four channels and a band of rows of outputs at a time.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/channel_fives.h"
#include "runtime/kernels/common/each_image.h"
#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

namespace depthwise_5x5 {

/// Returns how many rows of outputs are computed at a time.
template <typename Args>
std::int32_t band_rows(const Args& a) {
  return a.band_rows < a.output_dims.h ? a.band_rows : a.output_dims.h;
}

/// The sizes of planes in scratch memory.
struct Planes {
  template <typename Args>
  explicit Planes(const Args& a)
      : lines((band_rows(a) - 1) * a.params.stride.h + a.filter_dims.h),
        line_words(channel_fives::line_words(a.output_dims.w, a.params.stride.h)) {}

  std::int32_t words() const { return lines * line_words; }

  std::int32_t lines;  // of a band
  std::int32_t line_words;
};

}  // namespace depthwise_5x5

/// Computes one call of stride `kStride`. `Fives` has the functions of PlainChannelFives.
template <typename Fives, typename Args, std::int32_t kStride>
class DepthwiseFives {
 public:
  using Element = typename Fives::Element;

  /// `args` is borrowed. `scratch` holds the pairs of a channel's weights, and behind them the planes of four channels.
  DepthwiseFives(const Args& args, std::int32_t* scratch)
      : args_(args),
        rows_(depthwise_5x5::band_rows(args)),
        planes_(args),
        words_(scratch + channel_fives::kWeightWords) {
    const auto& limits = args.params.activation;
    if constexpr (kBytes == 1) {
      zero_point_ = -args.params.input_offset;
      band_.half_steps = 2 * args.params.output_offset + 1;
    }
    band_.plane_bytes = planes_.words() * 4;
    band_.row_bytes = args.output_dims.w * args.output_dims.c * kBytes;
    band_.outputs = args.output_dims.w;
    band_.column_bytes = args.output_dims.c * kBytes;
    band_.taps = args.filter_dims.h;
    band_.line_bytes = planes_.line_words * 4;
    band_.weights = scratch;
    band_.limited = is_limited<Element>(limits);
    band_.least = repeated<Element>(limits.min);
    band_.most = repeated<Element>(limits.max);
    // Pixels of a row of the image that lie in a line.
    const std::int32_t left = args.params.padding.w;
    const std::int32_t room = planes_.line_words * 2 - left;
    const std::int32_t pixels = room < 0 ? 0 : room < args.input_dims.w ? room : args.input_dims.w;
    row_.padding = repeated<Element>(zero_point_);
    row_.pixel_bytes = args.input_dims.c * kBytes;
    row_.channel_bytes = band_.plane_bytes;
    row_.first = pixels != 0 ? left % 2 : 0;
    row_.pairs = (pixels - row_.first) / 2;
    row_.last = (pixels - row_.first) % 2;
    inside_ = pixels != 0;
    first_word_ = inside_ ? left / 2 : 0;
    // The columns left and right of the image stay.
    clear(words_, planes_.words() * channel_fives::kChannels);
  }

  void run(const Element* image, Element* output, const std::int32_t* table) {
    const std::int32_t channels = args_.output_dims.c;
    for (std::int32_t first = 0; first < channels; first += channel_fives::kChannels) {
      const std::int32_t left = channels - first;
      const bool all = left >= channel_fives::kChannels;
      // The last one to three are read together with channels before them, because there may be no memory after them.
      const std::int32_t before = all || first == 0 ? 0 : channel_fives::kChannels - left;
      band_.channels = all ? channel_fives::kChannels : left;
      group(image + first - before, output + first, table, words_ + before * planes_.words());
      table +=
          band_.channels * (channel_fives::weight_words(band_.taps) + channel_fives::kEndWords);
    }
  }

 private:
  static constexpr auto kBytes = static_cast<std::int32_t>(sizeof(Element));

  /// Computes up to four channels, whose planes begin at `planes`.
  void group(const Element* image, Element* output, const std::int32_t* table,
             const std::int32_t* planes) {
    for (std::int32_t y = 0; y < args_.output_dims.h; y += rows_) {
      const std::int32_t left = args_.output_dims.h - y;
      const std::int32_t rows = left < rows_ ? left : rows_;
      const std::int32_t lines = (rows - 1) * kStride + band_.taps;
      read(image, y * kStride - args_.params.padding.h, lines);
      band_.planes = planes;
      band_.output = output + y * (band_.row_bytes / kBytes);
      band_.table = table;
      band_.rows = rows;
      kStride == 1 ? Fives::filter_stride1(band_) : Fives::filter_stride2(band_);
    }
  }

  /// Reads `lines` rows of the image from row `y` on, the padding above and below included.
  void read(const Element* image, std::int32_t y, std::int32_t lines) {
    const std::int32_t row = args_.input_dims.w * args_.input_dims.c;
    std::int32_t* line = words_;
    for (std::int32_t i = 0; i < lines; ++i, ++y, line += planes_.line_words) {
      if (y < 0 || y >= args_.input_dims.h) {
        for (std::int32_t plane = 0; plane < channel_fives::kChannels; ++plane) {
          clear(line + plane * planes_.words(), planes_.line_words);
        }
      } else if (inside_ && args_.input_dims.c >= channel_fives::kChannels) {
        Fives::fill(image + y * row, line + first_word_, row_);
      } else if (inside_) {
        channel_fives::fill(image + y * row, line + first_word_, row_, args_.input_dims.c);
      }
    }
  }

  void clear(std::int32_t* words, std::int32_t count) const {
    const std::int32_t padding = channel_planes::pair(zero_point_, zero_point_);
    for (std::int32_t i = 0; i < count; ++i) {
      words[i] = padding;
    }
  }

  const Args& args_;
  const std::int32_t rows_;  // of outputs of a band
  const depthwise_5x5::Planes planes_;
  std::int32_t* words_;  // of the planes
  std::int32_t zero_point_ = 0;
  bool inside_;              // a line has pixels of the image
  std::int32_t first_word_;  // of a line that has such
  PlaneRow row_{};
  ChannelBandOf<Element> band_{};
};

/// Computes calls of one stride.
template <typename Fives, std::int32_t kStride, typename Args>
Error run_depthwise_5x5(const Args& a, const Bases& bases) {
  DepthwiseFives<Fives, Args, kStride> fives(a, bases.resolve<std::int32_t>(a.scratch));
  for_each_image<typename Fives::Element>(a, bases, fives);
  return Error::Ok;
}

/// Stands for both strides.
inline constexpr std::int32_t kAnyStrideOfFives = 0;

/// The body of a kernel's function, for all calls or those with one stride.
template <typename Fives, std::int32_t kStride = kAnyStrideOfFives,
          typename Args = payload::DepthwiseConv2d5x5Args>
[[gnu::always_inline]] inline Error compute_depthwise_conv2d_5x5(const void* args,
                                                                 const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  if constexpr (kStride != kAnyStrideOfFives) {
    return run_depthwise_5x5<Fives, kStride>(a, bases);
  } else {
    return a.params.stride.h == 1 ? run_depthwise_5x5<Fives, 1>(a, bases)
                                  : run_depthwise_5x5<Fives, 2>(a, bases);
  }
}

/// Returns the scratch memory that one call needs: see DepthwiseConv2d5x5.scratch_bytes in Python.
template <typename Args>
std::uint32_t depthwise_conv2d_5x5_scratch_bytes(const void* args) {
  const depthwise_5x5::Planes planes(*static_cast<const Args*>(args));
  return static_cast<std::uint32_t>(channel_fives::kWeightWords * 4) +
         static_cast<std::uint32_t>(planes.lines) * static_cast<std::uint32_t>(planes.line_words) *
             channel_fives::kChannels * 4;
}

/// Returns whether the call has one channel a group, five taps in up to five rows side by side, and stride 1 or 2.
template <typename Args, std::int32_t kStride>
bool depthwise_conv2d_5x5_accepts(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  const auto& p = a.params;
  constexpr std::int32_t kMostWords = 1 << 24;  // of planes, so that the scratch memory has a size
  const bool sizes =
      a.filter_dims.c == 1 && a.input_dims.c == a.output_dims.c &&
      a.filter_dims.w == channel_fives::kTaps && a.filter_dims.h >= 1 &&
      a.filter_dims.h <= channel_fives::kTaps && p.dilation.h == 1 && p.dilation.w == 1 &&
      p.stride.h == p.stride.w && p.stride.h <= 2 &&
      a.channel_words == channel_fives::weight_words(a.filter_dims.h) + channel_fives::kEndWords;
  if (!sizes) {
    return false;
  }
  const depthwise_5x5::Planes planes(a);
  return planes.lines <= kMostWords / planes.line_words &&
         (kStride == kAnyStrideOfFives || p.stride.h == kStride);
}

/// All inputs of a group are read before its outputs are written, if one band has all rows.
template <typename Args>
bool depthwise_conv2d_5x5_overlaps(const void* args, std::int32_t distance) {
  const auto& a = *static_cast<const Args*>(args);
  const payload::PackedDims& in = a.input_dims;
  const payload::PackedDims& out = a.output_dims;
  return distance == 0 && a.band_rows >= out.h && out.h * out.w <= in.h * in.w;
}

/// Returns the kernel whose `run` calls compute_depthwise_conv2d_5x5().
template <std::int32_t kStride = kAnyStrideOfFives>
constexpr Kernel depthwise_conv2d_5x5_kernel(Kernel::Run run) {
  using Args = payload::DepthwiseConv2d5x5Args;
  return Kernel(operators::kDepthwiseConv2d5x5, run, depthwise_conv2d_5x5_scratch_bytes<Args>)
      .limited_to(depthwise_conv2d_5x5_accepts<Args, kStride>)
      .overlapping(depthwise_conv2d_5x5_overlaps<Args>)
      .only_of(payload::ProviderId::kTuned);
}

/// The same for int16, of both strides.
constexpr Kernel depthwise_conv2d_5x5_int16_kernel(Kernel::Run run) {
  using Args = payload::DepthwiseConv2d5x5Int16Args;
  return Kernel(operators::kDepthwiseConv2d5x5Int16, run, depthwise_conv2d_5x5_scratch_bytes<Args>)
      .limited_to(depthwise_conv2d_5x5_accepts<Args, kAnyStrideOfFives>)
      .overlapping(depthwise_conv2d_5x5_overlaps<Args>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
