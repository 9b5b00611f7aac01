// Depthwise convolution of 5 x 5 taps as products of columns, eight channels at a time.
#pragma once

#include <cstdint>

#include "runtime/kernels/depthwise_conv2d/channel_columns.h"
#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/bounds.h"

namespace cmsis_nn_delegate::portable {

namespace depthwise_columns {

/// Outputs of a row of a group.
inline std::int32_t group_outputs(std::int32_t stride) {
  return channel_columns::kOutputs / channel_columns::band_rows(stride);
}

/// Columns of inputs of `outputs` outputs of a row.
inline std::int32_t columns(std::int32_t outputs, std::int32_t stride) {
  return (outputs - 1) * stride + channel_columns::kTaps;
}

/// Bytes of a plane.
template <typename Args>
std::int32_t plane_bytes(const Args& a) {
  return (columns(a.output_dims.w, a.params.stride.w) * channel_columns::kRows + 15) / 16 * 16;
}

/// Bytes behind the last plane that are read where a group has fewer outputs: for one with the first alone, those of seven
/// others with stride 2, and what vectors have beyond a window.
inline constexpr std::int32_t kBeyond = 96;

}  // namespace depthwise_columns

/// One call. `Columns` has the functions of PlainChannelColumns.
template <typename Columns>
class DepthwiseColumns {
 public:
  using Args = payload::DepthwiseConv2dColumnsArgs;

  DepthwiseColumns(const Args& args, const Bases& bases)
      : args_(args),
        stride_(args.params.stride.w),
        image_(bases.resolve<const std::int8_t>(args.input)),
        output_(bases.resolve<std::int8_t>(args.output)),
        table_(bases.resolve<const std::int8_t>(args.table)),
        planes_(bases.resolve<std::int8_t>(args.scratch)) {
    const payload::PackedDims& out = args.output_dims;
    const std::int32_t group = depthwise_columns::group_outputs(stride_);
    const std::int32_t rows = channel_columns::band_rows(stride_);
    const std::int32_t columns = depthwise_columns::columns(out.w, stride_);
    band_.planes = planes_;
    band_.plane_bytes = depthwise_columns::plane_bytes(args);
    band_.groups = (out.w - 1) / group;
    rest_ = (1 << kBits * rows * (out.w - band_.groups * group)) - 1;
    band_.output_step = group * out.c;
    for (std::int32_t i = 0; i < channel_columns::kOutputs; ++i) {
      band_.offsets[i] =
          static_cast<std::uint16_t>(rows == 1 ? i * out.c : (i / 2 + i % 2 * out.w) * out.c);
    }
    band_.zero_point = args.params.output_offset;
    band_.least = args.params.activation.min;
    band_.most = args.params.activation.max;
    band_.form = args.form;
    rows_.plane_bytes = band_.plane_bytes;
    rows_.left = limit(args.params.padding.w, columns);
    rows_.inside = limit(args.input_dims.w, columns - rows_.left);
    rows_.right = columns - rows_.left - rows_.inside;
    rows_.padding = -args.params.input_offset;
    for (std::int8_t& zero : padding_) {
      zero = static_cast<std::int8_t>(rows_.padding);
    }
  }

  void run() {
    const payload::PackedDims& in = args_.input_dims;
    const payload::PackedDims& out = args_.output_dims;
    for (std::int32_t n = 0; n < out.n; ++n) {
      for (std::int32_t first = 0; first < out.c; first += channel_columns::kChannels) {
        band_.channels = limit(out.c - first, channel_columns::kChannels);
        band_.table = table_ + first * channel_columns::kTable;
        rows_.channels = band_.channels;
        run_block(image_ + first, output_ + first);
      }
      image_ += in.h * in.w * in.c;
      output_ += out.h * out.w * out.c;
    }
  }

 private:
  /// Computes the channels of a block, band after band.
  void run_block(const std::int8_t* image, std::int8_t* output) {
    const payload::PackedDims& out = args_.output_dims;
    const std::int32_t rows = channel_columns::band_rows(stride_);
    std::int32_t row = -args_.params.padding.h;
    rows_.vectors = 0;
    for (std::int32_t i = -kBefore; i < 0; i += channel_columns::kRead) {
      rows_.planes = planes_ + i;
      read(image, row);
      row += channel_columns::kRead;
    }
    rows_.planes = planes_;
    for (std::int32_t y = 0; y < out.h; y += rows, row += channel_columns::kRead) {
      read(image, row);
      rows_.vectors = band_.channels * band_.plane_bytes / 16;
      // Of two rows, or of the first one alone.
      const std::int32_t stored = out.h - y >= rows ? 0xFFFF : 0x3333;
      band_.mask = stored;
      band_.last = stored & rest_;
      band_.output = output + y * out.w * out.c;
      stride_ == 1 ? Columns::stride1(band_) : Columns::stride2(band_);
    }
  }

  /// Reads two rows of the image from `row` on, of which those outside are padding.
  void read(const std::int8_t* image, std::int32_t row) {
    const payload::PackedDims& in = args_.input_dims;
    for (std::int32_t i = 0; i < channel_columns::kRead; ++i) {
      const bool inside = row + i >= 0 && row + i < in.h;
      rows_.rows[i] = inside ? image + (row + i) * in.w * in.c : padding_;
      rows_.steps[i] = inside ? in.c : 0;
    }
    Columns::advance(rows_);
  }

  /// `value` limited to [0, most].
  static std::int32_t limit(std::int32_t value, std::int32_t most) {
    return value < 0 ? 0 : value > most ? most : value;
  }

  static constexpr std::int32_t kBits = 2;  // of an output in masks
  // Rows of inputs that are there before a band reads its own.
  static constexpr std::int32_t kBefore = channel_columns::kRows - channel_columns::kRead;

  const Args& args_;
  std::int32_t stride_;
  std::int32_t rest_;  // the outputs of the last group that there are, of all rows of a band
  const std::int8_t* image_;
  std::int8_t* output_;
  const std::int8_t* table_;
  std::int8_t* planes_;
  std::int8_t padding_[channel_columns::kChannels];
  ColumnBand band_ = {};
  ColumnRows rows_ = {};
};

/// Computes one call: the body of a kernel's function.
template <typename Columns>
[[gnu::always_inline]] inline Error compute_depthwise_columns(const void* args,
                                                              const Bases& bases) {
  DepthwiseColumns<Columns>(*static_cast<const payload::DepthwiseConv2dColumnsArgs*>(args), bases)
      .run();
  return Error::Ok;
}

/// Returns the scratch memory that one call needs: see DepthwiseConv2dColumns.scratch_bytes in Python.
inline std::uint32_t depthwise_columns_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dColumnsArgs*>(args);
  const std::int32_t channels =
      a.output_dims.c < channel_columns::kChannels ? a.output_dims.c : channel_columns::kChannels;
  return static_cast<std::uint32_t>(channels * depthwise_columns::plane_bytes(a) +
                                    depthwise_columns::kBeyond);
}

/// Returns whether the sizes are those that the kernel computes, and the table is as large.
inline bool depthwise_columns_accepts(const void* args) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dColumnsArgs*>(args);
  const auto& p = a.params;
  constexpr std::int32_t kMostBytes = 1 << 16;    // of a row of outputs and a group more
  constexpr std::int32_t kMostOutputs = 1 << 10;  // of a row
  constexpr std::int32_t kMostPlane = 1 << 13;    // bytes
  return a.filter_dims.h == channel_columns::kTaps && a.filter_dims.w == channel_columns::kTaps &&
         p.dilation.h == 1 && p.dilation.w == 1 && p.stride.h == p.stride.w && p.stride.h <= 2 &&
         a.filter_dims.c == 1 && a.input_dims.c == a.output_dims.c &&
         a.output_dims.w <= kMostOutputs &&
         bounds::product(static_cast<std::uint32_t>(a.output_dims.w) + channel_columns::kOutputs,
                         static_cast<std::uint32_t>(a.output_dims.c)) <= kMostBytes &&
         depthwise_columns::plane_bytes(a) <= kMostPlane &&
         a.block_words * 4 == channel_columns::kTable && a.blocks == a.output_dims.c;
}

/// Returns whether the output may lie over the input: DepthwiseConv2dColumns.distance in Python has the same.
inline bool depthwise_columns_overlaps(const void* args, std::int32_t distance) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dColumnsArgs*>(args);
  const payload::PackedDims& in = a.input_dims;
  const payload::PackedDims& out = a.output_dims;
  if (distance != 0 || out.h * out.w > in.h * in.w) {
    return false;
  }
  const std::int32_t rows = channel_columns::band_rows(a.params.stride.w);
  std::int32_t row = channel_columns::kRows - a.params.padding.h;  // that the second band reads
  for (std::int32_t y = rows; y < out.h; y += rows, row += channel_columns::kRead) {
    const std::int32_t first = row < 0 ? row + 1 : row;
    if (first >= 0 && first < in.h && y * out.w > first * in.w) {
      return false;
    }
  }
  return true;
}

/// Returns the kernel whose `run` calls compute_depthwise_columns().
constexpr Kernel depthwise_columns_kernel(Kernel::Run run) {
  return Kernel(operators::kDepthwiseConv2dColumns, run, depthwise_columns_scratch_bytes)
      .limited_to(depthwise_columns_accepts)
      .overlapping(depthwise_columns_overlaps)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
