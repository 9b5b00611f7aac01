// Depthwise convolution of 3 x 3 taps, one row of outputs of four channels at a time.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/depthwise_3x3.h"
#include "runtime/kernels/common/each_image.h"
#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/depthwise_conv2d/channel_rows.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Computes one call: the body of a kernel's function, which has no call more for it. `Rows` has the functions of PlainChannelRows.
template <typename Rows>
class DepthwiseRows {
 public:
  /// `records` is the scratch memory.
  DepthwiseRows(const payload::DepthwiseConv2dRowsArgs& args, std::uint8_t* records)
      : axes_(args),
        records_(records),
        stride_(args.params.stride.h),
        channels_(args.output_dims.c),
        padding_(repeated<std::int8_t>(-args.params.input_offset) ^ channel_rows::kInputOffset),
        columns_((axes_.x.out - 1) * stride_ + channel_rows::kTaps),
        before_(axes_.x.padding < columns_ ? axes_.x.padding : columns_),
        pixels_(axes_.x.in < columns_ - before_ ? axes_.x.in : columns_ - before_) {
    const payload::PackedActivation& limits = args.params.activation;
    row_.least = limits.min;
    row_.most = limits.max;
    row_.limited = is_limited<std::int8_t>(limits);
    row_.outputs = axes_.x.out;
    row_.column_bytes = axes_.x.out_step;
  }

  void run(const std::int8_t* image, std::int8_t* output, const std::int32_t* table) {
    row_.table = table;
    for (std::int32_t first = 0; first < channels_; first += channel_rows::kChannels) {
      const std::int32_t left = channels_ - first;
      const bool all = left >= channel_rows::kChannels;
      // The last one to three are read together with channels before them, because there may be no memory after them.
      const std::int32_t skipped = all || first == 0 ? 0 : channel_rows::kChannels - left;
      row_.channels = all ? channel_rows::kChannels : left;
      group(image + first - skipped, output + first, skipped);
      row_.table += row_.channels * channel_rows::kWords;
    }
  }

 private:
  /// Computes up to four channels, of which the first is byte `skipped` of the words that are read.
  void group(const std::int8_t* image, std::int8_t* output, std::int32_t skipped) {
    row_.first = skipped;
    std::uint8_t* window = records_;
    std::int32_t top = -axes_.y.padding;
    std::int32_t have = 0;  // rows of the window
    for (std::int32_t y = 0; y < axes_.y.out; ++y) {
      for (; have < channel_rows::kTaps; ++have) {
        read_row(image, top + have, window + have * channel_rows::kRowBytes);
      }
      row_.window = window;
      row_.output = output;
      stride_ == 1 ? Rows::filter_stride1(row_) : Rows::filter_stride2(row_);
      window += stride_ * channel_rows::kRowBytes;
      top += stride_;
      have -= stride_;
      output += axes_.y.out_step;
    }
  }

  /// Copies row `y` of the image, which may lie in its padding, to the columns that begin with `to`.
  void read_row(const std::int8_t* image, std::int32_t y, std::uint8_t* to) {
    if (y < 0 || y >= axes_.y.in) {
      pad(to, columns_);
      return;
    }
    to = pad(to, before_);
    to = copy(image + y * axes_.y.in_step, to);
    pad(to, columns_ - before_ - pixels_);
  }

  std::uint8_t* pad(std::uint8_t* to, std::int32_t columns) const {
    for (; columns > 0; --columns, to += channel_rows::kColumnBytes) {
      store(to, padding_);
    }
    return to;
  }

  std::uint8_t* copy(const std::int8_t* pixel, std::uint8_t* to) const {
    const std::int32_t step = axes_.x.in_step;
    const auto each = [&](auto load) {
      for (std::int32_t left = pixels_; left > 0; --left) {
        store(to, load(pixel) ^ channel_rows::kInputOffset);
        pixel += step;
        to += channel_rows::kColumnBytes;
      }
    };
    if (channels_ < channel_rows::kChannels) {
      each([&](const std::int8_t* from) {
        std::uint32_t word = 0;
        for (std::int32_t i = 0; i < channels_; ++i) {
          word |= (static_cast<std::uint32_t>(from[i]) & 0xFF) << 8 * i;
        }
        return word;
      });
    } else if ((reinterpret_cast<std::uintptr_t>(pixel) | static_cast<std::uintptr_t>(step)) % 4 ==
               0) {
      each([](const std::int8_t* from) {
        std::uint32_t word;
        std::memcpy(&word, __builtin_assume_aligned(from, 4), sizeof(word));
        return word;
      });
    } else {
      each([](const std::int8_t* from) {
        std::uint32_t word;
        std::memcpy(&word, from, sizeof(word));
        return word;
      });
    }
    return to;
  }

  static void store(std::uint8_t* to, std::uint32_t word) {
    std::memcpy(__builtin_assume_aligned(to, 4), &word, sizeof(word));
  }

  const depthwise_3x3::Axes axes_;
  std::uint8_t* const records_;
  const std::int32_t stride_;
  const std::int32_t channels_;
  const std::uint32_t padding_;  // four times
  const std::int32_t columns_;
  const std::int32_t before_;  // columns of padding on the left
  const std::int32_t pixels_;  // of the image after them
  ChannelRow row_{};
};

template <typename Rows>
[[gnu::always_inline]] inline Error compute_depthwise_conv2d_rows(const void* args,
                                                                  const Bases& bases) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dRowsArgs*>(args);
  DepthwiseRows<Rows> rows(a, bases.resolve<std::uint8_t>(a.scratch));
  for_each_image<std::int8_t>(a, bases, rows);
  return Error::Ok;
}

/// Returns the scratch memory that one call needs: see DepthwiseConv2dRows.scratch_bytes in Python.
inline std::uint32_t depthwise_conv2d_rows_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dRowsArgs*>(args);
  const depthwise_3x3::Axes axes(a);
  const auto stride = static_cast<std::uint32_t>(a.params.stride.h);
  const auto columns = (static_cast<std::uint32_t>(axes.x.out) - 1) * stride + channel_rows::kTaps;
  const std::uint32_t moves = (static_cast<std::uint32_t>(axes.y.out) - 1) * stride;
  const std::uint32_t bytes =
      columns * channel_rows::kColumnBytes + moves * channel_rows::kRowBytes;
  return (bytes + 15) / 16 * 16;
}

inline bool depthwise_conv2d_rows_accepts(const void* args) {
  return depthwise_3x3::accepts(*static_cast<const payload::DepthwiseConv2dRowsArgs*>(args));
}

inline bool depthwise_conv2d_rows_overlaps(const void* args, std::int32_t distance) {
  return depthwise_3x3::rows_overlap(*static_cast<const payload::DepthwiseConv2dRowsArgs*>(args),
                                     distance);
}

/// Returns the kernel whose `run` calls compute_depthwise_conv2d_rows().
constexpr Kernel depthwise_conv2d_rows_kernel(Kernel::Run run) {
  return Kernel(operators::kDepthwiseConv2dRows, run, depthwise_conv2d_rows_scratch_bytes)
      .limited_to(depthwise_conv2d_rows_accepts)
      .overlapping(depthwise_conv2d_rows_overlaps)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
