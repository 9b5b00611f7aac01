// Depthwise convolution of 3 x 3 taps as products of whole windows, strip by strip.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/depthwise_3x3.h"
#include "runtime/kernels/depthwise_conv2d/window_vectors.h"
#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/bounds.h"

namespace cmsis_nn_delegate::portable {

/// How the outputs of a call are taken: WindowShape in aot/cmsis_nn_delegate/providers/tuned/window_shape.py has the same.
struct WindowShape {
  template <typename Args>
  explicit WindowShape(const Args& a) {
    const bool columns_for_rows = a.along_height != 0;
    const std::int32_t length = columns_for_rows ? a.output_dims.h : a.output_dims.w;
    const bool whole = columns_for_rows && a.strips == 1;
    const std::int32_t step = columns_for_rows && !whole ? kGroup : 2;
    const std::int32_t all = step * a.strips;
    outputs = (length + all - 1) / all * step;
    outputs = outputs < kGroup ? kGroup : outputs;
    columns = outputs + window_vectors::kTaps - 1;
    channels = a.output_dims.c;
    if (columns_for_rows && channels > window_vectors::kBlock) {
      channels = window_vectors::kBlock;
    }
    kept = whole ? 0 : columns_for_rows ? 1 : kKept;
    kept_bytes =
        columns_for_rows ? a.input_dims.h * window_vectors::kBlock : a.input_dims.w * channels;
  }

  /// Of the columns and the rows that are kept.
  std::uint32_t scratch_bytes() const {
    return static_cast<std::uint32_t>(column_bytes()) +
           (static_cast<std::uint32_t>(kept) * static_cast<std::uint32_t>(kept_bytes) + 15) / 16 *
               16;
  }

  std::int32_t column_bytes() const { return columns * window_vectors::kColumn; }

  static constexpr std::int32_t kGroup = 4;  // outputs of a row of a group
  static constexpr std::int32_t kRows = 2;   // of outputs of a strip
  // Rows of inputs that are copied before outputs are written, if rows are those of the image.
  static constexpr std::int32_t kKept = 3;

  std::int32_t outputs;   // of a row of a strip, at most; even
  std::int32_t columns;   // of inputs of a strip
  std::int32_t channels;  // that are computed before the next ones, from the first row to the last
  std::int32_t kept;      // rows of inputs
  std::int32_t kept_bytes;  // of one of them, with these channels
};

/// One call. `Vectors` has the functions of PlainWindowVectors. Where rows are columns of the image, a block of channels is
/// computed before the next one, and all of them at once elsewhere.
template <typename Vectors, typename Args>
class WindowStrips {
 public:
  WindowStrips(const Args& args, const Bases& bases)
      : args_(args),
        shape_(args),
        axes_(args),
        columns_(bases.resolve<std::int8_t>(args.scratch)),
        kept_(columns_ + shape_.column_bytes()),
        image_(bases.resolve<const std::int8_t>(args.input)),
        output_(bases.resolve<std::int8_t>(args.output)) {
    strip_.output_step = WindowShape::kGroup * axes_.x.out_step;
    for (std::int32_t i = 0; i < WindowShape::kGroup; ++i) {
      strip_.places[i] = static_cast<std::uint32_t>(i * window_vectors::kColumn);
      strip_.offsets[2 * i] = static_cast<std::uint16_t>(i * axes_.x.out_step);
      strip_.offsets[2 * i + 1] =
          static_cast<std::uint16_t>(axes_.y.out_step + i * axes_.x.out_step);
    }
    strip_.zero_point = args.params.output_offset;
    strip_.least = args.params.activation.min;
    strip_.most = args.params.activation.max;
    strip_.form = args.form;
    table_ = bases.resolve<const std::int8_t>(args.table);
  }

  void run() {
    const payload::PackedDims& in = args_.input_dims;
    const payload::PackedDims& out = args_.output_dims;
    const auto zero_point = static_cast<std::int8_t>(-args_.params.input_offset);
    for (std::int8_t& padding : padding_) {
      padding = zero_point;
    }
    for (std::int32_t n = 0; n < out.n; ++n) {
      for (std::int32_t channel = 0; channel < out.c; channel += shape_.channels) {
        const std::int32_t left = out.c - channel;
        run_bands(channel, left < shape_.channels ? left : shape_.channels);
      }
      image_ += in.h * in.w * in.c;
      output_ += out.h * out.w * out.c;
    }
  }

 private:
  void run_bands(std::int32_t channel, std::int32_t channels) {
    for (std::int32_t y = 0; y < axes_.y.out; y += WindowShape::kRows) {
      if (!columns_for_rows()) {
        keep_rows(y);
      }
      for (std::int32_t x = 0; x < axes_.x.out; x += shape_.outputs) {
        run_strip(y, x, channel, channels);
      }
    }
  }

  bool columns_for_rows() const { return args_.along_height != 0; }

  /// Copies the rows of inputs that outputs from row `y` on may overwrite. The last one of those before is the first.
  void keep_rows(std::int32_t y) {
    const std::int32_t top = y - axes_.y.padding;
    for (std::int32_t i = 0; i < WindowShape::kKept; ++i) {
      const std::int32_t row = top + i;
      if (row >= 0 && row < axes_.y.in) {
        const std::int8_t* const from =
            i == 0 && y != 0 ? kept_row(WindowShape::kKept - 1) : image_ + row * axes_.y.in_step;
        Vectors::copy_columns(kept_row(i), from, 1, shape_.kept_bytes, 0, 0);
      }
    }
  }

  std::int8_t* kept_row(std::int32_t row) const { return kept_ + row * shape_.kept_bytes; }

  /// Computes `channels` channels from `first` on.
  void run_strip(std::int32_t y, std::int32_t x, std::int32_t first, std::int32_t channels) {
    const std::int32_t outputs =
        axes_.x.out - x < shape_.outputs ? axes_.x.out - x : shape_.outputs;
    const std::int32_t whole = outputs / WindowShape::kGroup;
    const std::int32_t rest = outputs - whole * WindowShape::kGroup;
    // Of both rows, or of the first one.
    const std::int32_t stored = axes_.y.out - y > 1 ? 0xFFFF : 0x3333;
    const std::int32_t rest_stored = stored & ((1 << kColumnBits * rest) - 1);
    // One or two columns are computed with the groups before them.
    const bool along = whole != 0 && rest <= 2;
    std::int8_t* const to = output_ + y * axes_.y.out_step + x * axes_.x.out_step;
    for (std::int32_t at = 0; at < channels; at += window_vectors::kBlock) {
      const std::int32_t left = channels - at;
      strip_.channels = left < window_vectors::kBlock ? left : window_vectors::kBlock;
      interleave(y, x, first, at);
      strip_.table = table_ + (first + at) * window_vectors::kTable;
      strip_.columns = columns_;
      strip_.output = to + first + at;
      if (whole != 0) {
        strip_.groups = whole;
        strip_.mask = stored;
        strip_.rest = along ? rest_stored : 0;
        Vectors::compute(strip_);
      }
      if (rest != 0 && !along) {
        strip_.groups = 1;
        strip_.mask = rest_stored;
        strip_.rest = 0;
        strip_.columns += whole * WindowShape::kGroup * window_vectors::kColumn;
        strip_.output += whole * strip_.output_step;
        Vectors::compute(strip_);
      }
    }
  }

  /// Writes the columns of a strip, with the padding around the image, of channels from `first` + `at` on. Rows of all
  /// channels from `first` on are kept. Where rows are columns of the image, the first two columns are the last two of the
  /// strip before, whose outputs may have replaced them, and of the others the row is kept with which the next band begins;
  /// with a single strip, that row and the padding are still in the columns of the band before.
  void interleave(std::int32_t y, std::int32_t x, std::int32_t first, std::int32_t at) {
    constexpr std::int32_t kShared = window_vectors::kTaps - 1;
    const std::int32_t shared = columns_for_rows() && x != 0 ? kShared : 0;
    if (shared != 0) {
      Vectors::copy_columns(columns_, columns_ + shape_.outputs * window_vectors::kColumn, kShared,
                            window_vectors::kColumn, window_vectors::kColumn,
                            window_vectors::kColumn);
    }
    const std::int32_t top = y - axes_.y.padding;
    const std::int32_t left = x + shared - axes_.x.padding;
    const std::int32_t columns = shape_.columns - shared;
    const std::int32_t before = limit(-left, columns);
    const std::int32_t inside = limit(axes_.x.in - limit(left, axes_.x.in), columns - before);
    std::int8_t* const to = columns_ + shared * window_vectors::kColumn;
    const std::int8_t* rows[window_vectors::kRows];
    std::int32_t steps[window_vectors::kRows];
    for (std::int32_t i = 0; i < window_vectors::kRows; ++i) {
      const std::int32_t row = top + i;
      const bool kept =
          columns_for_rows() ? i == 0 && y != 0 && shape_.kept != 0 : i < WindowShape::kKept;
      const std::int8_t* const begin = kept ? kept_row(i) : image_ + row * axes_.y.in_step + first;
      rows[i] = padding_;
      steps[i] = 0;
      if (row >= 0 && row < axes_.y.in) {
        const std::int32_t kept_step =
            columns_for_rows() ? window_vectors::kBlock : shape_.channels;
        steps[i] = kept ? kept_step : axes_.x.in_step;
        rows[i] = begin + (left + before) * steps[i] + at;
      }
    }
    const bool again = shape_.kept == 0 && y != 0;
    if (!again) {
      pad(to, before);
      pad(to + (before + inside) * window_vectors::kColumn, columns - before - inside);
    }
    if (inside > 0) {
      if (again && steps[0] != 0) {
        rows[0] = nullptr;
      }
      std::int8_t* const keep = columns_for_rows() && shape_.kept != 0
                                    ? kept_row(0) + (left + before) * window_vectors::kBlock
                                    : nullptr;
      Vectors::interleave(to + before * window_vectors::kColumn, rows, steps, inside,
                          strip_.channels, keep);
    }
  }

  [[gnu::noinline]] void pad(std::int8_t* to, std::int32_t count) const {
    if (count > 0) {
      Vectors::copy_columns(to, padding_, count, window_vectors::kColumn, window_vectors::kColumn,
                            0);
    }
  }

  /// `value` limited to [0, most].
  static std::int32_t limit(std::int32_t value, std::int32_t most) {
    return value < 0 ? 0 : value > most ? most : value;
  }

  static constexpr std::int32_t kColumnBits = 4;  // of masks

  const Args& args_;
  WindowShape shape_;
  depthwise_3x3::Axes axes_;
  std::int8_t* columns_;
  std::int8_t padding_[window_vectors::kColumn];  // the zero point
  std::int8_t* kept_;                             // rows of inputs
  const std::int8_t* image_;
  std::int8_t* output_;
  const std::int8_t* table_;
  WindowStrip strip_;
};

/// Computes one call: the body of a kernel's function, which has no call more for it.
template <typename Vectors, typename Args>
[[gnu::always_inline]] inline Error compute_depthwise_windows(const void* args,
                                                              const Bases& bases) {
  WindowStrips<Vectors, Args>(*static_cast<const Args*>(args), bases).run();
  return Error::Ok;
}

/// Returns the scratch memory that one call needs.
template <typename Args>
std::uint32_t depthwise_windows_scratch_bytes(const void* args) {
  return WindowShape(*static_cast<const Args*>(args)).scratch_bytes();
}

/// Returns whether the sizes are those that the kernel computes, and the table is as large.
template <typename Args>
bool depthwise_windows_accepts(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  const auto& p = a.params;
  constexpr std::uint32_t kMostBytes = 1u << 16;  // between outputs of a group
  const auto width = static_cast<std::uint32_t>(a.output_dims.w);
  const std::uint32_t pixels = a.along_height != 0 ? width * WindowShape::kGroup : width + 8;
  return a.filter_dims.h == window_vectors::kTaps && a.filter_dims.w == window_vectors::kTaps &&
         p.dilation.h == 1 && p.dilation.w == 1 && p.stride.h == 1 && p.stride.w == 1 &&
         a.filter_dims.c == 1 && a.input_dims.c == a.output_dims.c &&
         bounds::product(pixels, static_cast<std::uint32_t>(a.output_dims.c)) <= kMostBytes &&
         a.block_words * 4 == window_vectors::kTable && a.blocks == a.output_dims.c;
}

/// Returns how many bytes before the input the output has to start: `distance` in
/// aot/cmsis_nn_delegate/providers/tuned/window_shape.py, where it is explained.
template <typename Args>
std::int32_t depthwise_windows_distance(const Args& a) {
  const payload::PackedDims& in = a.input_dims;
  const payload::PackedDims& out = a.output_dims;
  std::int32_t most = 0;
  for (std::int32_t y = 0; y < out.h; y += WindowShape::kRows) {
    const std::int32_t last = y + WindowShape::kRows < out.h ? y + WindowShape::kRows : out.h;
    const std::int32_t row = y - a.params.padding.h + WindowShape::kKept;
    const std::int32_t read = row < 0 ? 0 : row < in.h ? row : in.h;
    const std::int32_t ahead = last * out.w - read * in.w;
    most = ahead > most ? ahead : most;
  }
  const std::int32_t growth = out.h * out.w - in.h * in.w;
  return (most + (growth > 0 ? growth * (out.n - 1) : 0)) * out.c;
}

/// Where rows are columns of the image, a pixel of the output only lies over that of the input in the same column.
template <typename Args>
bool depthwise_windows_overlaps(const void* args, std::int32_t distance) {
  const auto& a = *static_cast<const Args*>(args);
  if (a.along_height != 0) {
    return a.params.padding.h <= 2 && a.params.padding.w <= 1 &&
           depthwise_3x3::rows_overlap(a, distance);
  }
  return distance >= depthwise_windows_distance(a);
}

/// Returns the kernel whose `run` calls compute_depthwise_windows().
constexpr Kernel depthwise_windows_kernel(Kernel::Run run) {
  using Args = payload::DepthwiseConv2dWindowsArgs;
  return Kernel(operators::kDepthwiseConv2dWindows, run, depthwise_windows_scratch_bytes<Args>)
      .limited_to(depthwise_windows_accepts<Args>)
      .overlapping(depthwise_windows_overlaps<Args>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
