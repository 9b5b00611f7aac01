// Depthwise convolution over one axis, four channels of a row or column of the image at a time. Where scratch memory is
// short, lines are computed in strips.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/depthwise_3x3.h"
#include "runtime/kernels/common/each_image.h"
#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/depthwise_conv2d/channel_lines.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

namespace depthwise_lines {

inline constexpr std::int32_t kMostTaps = 256;

inline std::int32_t pairs(const payload::DepthwiseConv2dLinesArgs& a) {
  return channel_lines::pairs_of(a.along_height != 0 ? a.filter_dims.h : a.filter_dims.w);
}

/// Returns how many outputs of a line are computed at a time, whole fours: at least all if there is one strip.
inline std::int32_t strip_outputs(const payload::DepthwiseConv2dLinesArgs& a) {
  constexpr std::int32_t kFour = channel_lines::kOutputs;
  const std::int32_t outputs = a.along_height != 0 ? a.output_dims.h : a.output_dims.w;
  return (outputs + kFour * a.strips - 1) / (kFour * a.strips) * kFour;
}

}  // namespace depthwise_lines

/// Computes one call. `Lines` has the functions of PlainChannelLines.
template <typename Lines>
class DepthwiseLines {
 public:
  /// `scratch` holds the pairs of a channel's weights, and behind them the lines of four channels.
  DepthwiseLines(const payload::DepthwiseConv2dLinesArgs& args, std::int32_t* scratch)
      : axes_(args),
        channels_(args.output_dims.c),
        strip_outputs_(depthwise_lines::strip_outputs(args)) {
    const payload::PackedActivation& limits = args.params.activation;
    line_.pairs = depthwise_lines::pairs(args);
    line_.weights = scratch;
    line_.column_bytes = axes_.x.out_step;
    line_.least = repeated<std::int8_t>(limits.min);
    line_.most = repeated<std::int8_t>(limits.max);
    line_.limited = is_limited<std::int8_t>(limits);
    line_.half_steps = 2 * args.params.output_offset + 1;
    zero_point_ = -args.params.input_offset;
    row_.padding = repeated<std::int8_t>(zero_point_);
    row_.pixel_bytes = axes_.x.in_step;
    row_.channel_bytes = 4;
    lines_ = scratch + 4 * channel_lines::weight_words(line_.pairs);
  }

  void run(const std::int8_t* image, std::int8_t* output, const std::int32_t* table) {
    for (std::int32_t x = 0; x < axes_.x.out; x += strip_outputs_) {
      const std::int32_t left = axes_.x.out - x;
      set_strip(x, left < strip_outputs_ ? left : strip_outputs_);
      strip(image + skipped_ * axes_.x.in_step, output + x * axes_.x.out_step, table);
    }
  }

 private:
  /// Prepares for `outputs` outputs of a line from output `x` on, and fills the lines with padding, of which the words
  /// beside the image stay.
  void set_strip(std::int32_t x, std::int32_t outputs) {
    const std::int32_t words = channel_lines::line_words(outputs, line_.pairs);
    const std::int32_t begin = x - axes_.x.padding;
    const std::int32_t before = begin < 0 ? -begin : 0;
    skipped_ = begin > 0 ? begin : 0;
    const std::int32_t room = words * 2 - before;
    const std::int32_t left = axes_.x.in - skipped_;
    const std::int32_t wanted = room < left ? room : left;
    pixels_ = wanted < 0 ? 0 : wanted;
    row_.first = pixels_ != 0 ? before % 2 : 0;
    row_.pairs = (pixels_ - row_.first) / 2;
    row_.last = (pixels_ - row_.first) % 2;
    first_word_ = pixels_ != 0 ? before / 2 * channel_lines::kChannels : 0;
    line_.fours_bytes = outputs / channel_lines::kOutputs * 2 * channel_lines::kChannels * 4;
    line_.last = outputs % channel_lines::kOutputs;
    const std::int32_t padding = channel_planes::pair(zero_point_, zero_point_);
    for (std::int32_t i = 0; i < words * channel_lines::kChannels; ++i) {
      lines_[i] = padding;
    }
  }

  /// Computes the outputs of a strip of all lines.
  void strip(const std::int8_t* image, std::int8_t* output, const std::int32_t* table) {
    line_.table = table;
    for (std::int32_t first = 0; first < channels_; first += channel_lines::kChannels) {
      const std::int32_t left = channels_ - first;
      const bool all = left >= channel_lines::kChannels;
      // The last one to three are read together with channels before them, because there may be no memory after them.
      const std::int32_t before = all || first == 0 ? 0 : channel_lines::kChannels - left;
      line_.channels = all ? channel_lines::kChannels : left;
      line_.line = lines_ + before;
      line_.output = output + first;
      const std::int8_t* row = image + first - before;
      for (std::int32_t y = 0; y < axes_.y.out; ++y) {
        read(row);
        Lines::filter(line_);
        row += axes_.y.in_step;
        line_.output += axes_.y.out_step;
      }
      line_.table +=
          line_.channels * (channel_lines::weight_words(line_.pairs) + channel_lines::kEndWords);
    }
  }

  void read(const std::int8_t* row) {
    if (pixels_ == 0) {
      return;
    }
    std::int32_t* const to = lines_ + first_word_;
    if (channels_ >= channel_lines::kChannels) {
      Lines::fill(row, to, row_);
    } else {
      channel_planes::fill(row, to, row_, channels_);
    }
  }

  const depthwise_3x3::Axes axes_;
  const std::int32_t channels_;
  const std::int32_t strip_outputs_;
  std::int32_t zero_point_;
  std::int32_t* lines_;
  // Of a strip: pixels of a line of the image and how many lie before them, and the word of the lines where they begin.
  std::int32_t pixels_ = 0;
  std::int32_t skipped_ = 0;
  std::int32_t first_word_ = 0;
  PlaneRow row_{};
  ChannelLine line_{};
};

/// The body of a kernel's function, which has no call more for it.
template <typename Lines>
[[gnu::always_inline]] inline Error compute_depthwise_conv2d_lines(const void* args,
                                                                   const Bases& bases) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dLinesArgs*>(args);
  DepthwiseLines<Lines> lines(a, bases.resolve<std::int32_t>(a.scratch));
  for_each_image<std::int8_t>(a, bases, lines);
  return Error::Ok;
}

/// Returns the scratch memory that one call needs: see DepthwiseConv2dLines.scratch_bytes in Python.
inline std::uint32_t depthwise_conv2d_lines_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dLinesArgs*>(args);
  const std::int32_t row = a.along_height != 0 ? a.output_dims.h : a.output_dims.w;
  const std::int32_t strip = depthwise_lines::strip_outputs(a);
  const std::int32_t pairs = depthwise_lines::pairs(a);
  return static_cast<std::uint32_t>((channel_lines::weight_words(pairs) +
                                     channel_lines::line_words(strip < row ? strip : row, pairs)) *
                                    channel_lines::kChannels * 4);
}

/// Returns whether the call has one channel a group, neighbouring taps along one axis alone, and stride 1.
inline bool depthwise_conv2d_lines_accepts(const void* args) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dLinesArgs*>(args);
  const auto& p = a.params;
  const bool along_height = a.along_height != 0;
  const std::int32_t taps = along_height ? a.filter_dims.h : a.filter_dims.w;
  const std::int32_t across = along_height ? a.filter_dims.w : a.filter_dims.h;
  const depthwise_3x3::Axes axes(a);
  return a.filter_dims.c == 1 && a.input_dims.c == a.output_dims.c && across == 1 && taps >= 2 &&
         taps <= depthwise_lines::kMostTaps && p.dilation.h == 1 && p.dilation.w == 1 &&
         p.stride.h == 1 && p.stride.w == 1 && axes.y.padding == 0 && axes.y.out == axes.y.in &&
         a.channel_words ==
             channel_lines::weight_words(channel_lines::pairs_of(taps)) + channel_lines::kEndWords;
}

inline bool depthwise_conv2d_lines_overlaps(const void* args, std::int32_t distance) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dLinesArgs*>(args);
  return depthwise_lines::strip_outputs(a) >=
             (a.along_height != 0 ? a.output_dims.h : a.output_dims.w) &&
         depthwise_3x3::rows_overlap(a, distance);
}

/// Returns the kernel whose `run` calls compute_depthwise_conv2d_lines().
constexpr Kernel depthwise_conv2d_lines_kernel(Kernel::Run run) {
  return Kernel(operators::kDepthwiseConv2dLines, run, depthwise_conv2d_lines_scratch_bytes)
      .limited_to(depthwise_conv2d_lines_accepts)
      .overlapping(depthwise_conv2d_lines_overlaps)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
