// Depthwise convolution of 3 x 3 taps from three rows of inputs in scratch memory.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/depthwise_conv2d/channel_vectors.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// The columns of the image under a row of outputs, of which there are an even number.
inline std::uint64_t channel_columns(const payload::DepthwiseConv2dVectorsArgs& a) {
  const std::uint64_t outputs = (static_cast<std::uint64_t>(a.output_dims.w) + 1) / 2 * 2;
  return (outputs - 1) * static_cast<std::uint32_t>(a.params.stride.w) + 3;
}

/// Returns the scratch memory: see DepthwiseConv2dVectors.scratch_bytes in Python.
inline std::uint64_t channel_rows_bytes(const payload::DepthwiseConv2dVectorsArgs& a) {
  return ((3 * channel_columns(a) + 1) * static_cast<std::uint32_t>(a.input_dims.c) + 15) / 16 * 16;
}

/// One call. `Vectors` has the functions of PlainChannelVectors.
template <typename Vectors>
class ChannelRows {
 public:
  ChannelRows(const payload::DepthwiseConv2dVectorsArgs& args, const Bases& bases)
      : args_(args),
        columns_(static_cast<std::int32_t>(channel_columns(args))),
        row_bytes_(columns_ * args.input_dims.c),
        scratch_(bases.resolve<std::int8_t>(args.scratch)),
        padding_(scratch_ + kRows * row_bytes_),
        image_(bases.resolve<const std::int8_t>(args.input)) {
    row_.table = bases.resolve<const std::int8_t>(args.table);
    row_.output = bases.resolve<std::int8_t>(args.output);
    row_.channels = args.output_dims.c;
    row_.outputs = args.output_dims.w;
    row_.stride = args.params.stride.w;
    row_.zero_point = args.params.output_offset;
    row_.least = args.params.activation.min;
    row_.most = args.params.activation.max;
    row_.form = args.form;
  }

  void run() {
    const payload::PackedDims& in = args_.input_dims;
    const payload::PackedDims& out = args_.output_dims;
    fill_padding();
    for (std::int32_t n = 0; n < out.n; ++n, image_ += in.h * in.w * in.c) {
      std::int32_t next = 0;  // the first row, counted from the padding on, that is not there yet
      for (std::int32_t y = 0; y < out.h; ++y) {
        const std::int32_t first = y * args_.params.stride.h;
        for (next = next < first ? first : next; next < first + kRows; ++next) {
          copy_row(next);
        }
        for (std::int32_t i = 0; i < kRows; ++i) {
          row_.rows[i] = place(first + i);
        }
        Vectors::compute(row_);
        row_.output += out.w * out.c;
      }
    }
  }

 private:
  static constexpr std::int32_t kRows = 3;

  /// Word by word, of which the last may overlap the one before: there are at least 8 channels, and memset() alone
  /// would be more code than this.
  void fill_padding() const {
    constexpr std::int32_t kWord = 4;
    const std::uint32_t word =
        static_cast<std::uint8_t>(-args_.params.input_offset) * std::uint32_t{0x01010101};
    const std::int32_t last = args_.input_dims.c - kWord;
    for (std::int32_t i = 0; i < last + kWord; i += kWord) {
      std::memcpy(padding_ + (i < last ? i : last), &word, kWord);
    }
  }

  std::int8_t* place(std::int32_t row) const { return scratch_ + row % kRows * row_bytes_; }

  void copy_row(std::int32_t row) const {
    const payload::PackedDims& in = args_.input_dims;
    std::int8_t* to = place(row);
    const std::int32_t y = row - args_.params.padding.h;
    if (y < 0 || y >= in.h) {
      pad(to, columns_);
      return;
    }
    const std::int32_t left = args_.params.padding.w;
    const std::int32_t before = left < columns_ ? left : columns_;
    const std::int32_t inside = in.w < columns_ - before ? in.w : columns_ - before;
    pad(to, before);
    to += before * in.c;
    if (inside > 0) {
      Vectors::copy_columns(to, image_ + y * in.w * in.c, 1, inside * in.c, 0, 0);
    }
    pad(to + inside * in.c, columns_ - before - inside);
  }

  void pad(std::int8_t* to, std::int32_t columns) const {
    if (columns > 0) {
      Vectors::copy_columns(to, padding_, columns, args_.input_dims.c, args_.input_dims.c, 0);
    }
  }

  const payload::DepthwiseConv2dVectorsArgs& args_;
  std::int32_t columns_;
  std::int32_t row_bytes_;
  std::int8_t* scratch_;
  std::int8_t* padding_;  // a pixel of the zero point
  const std::int8_t* image_;
  ChannelVectorRow row_;
};

/// Computes one call: the body of a kernel's function, which has no call more for it.
template <typename Vectors>
[[gnu::always_inline]] inline Error compute_depthwise_conv2d_vectors(const void* args,
                                                                     const Bases& bases) {
  ChannelRows<Vectors>(*static_cast<const payload::DepthwiseConv2dVectorsArgs*>(args), bases).run();
  return Error::Ok;
}

/// Returns the scratch memory that one call needs.
inline std::uint32_t depthwise_conv2d_vectors_scratch_bytes(const void* args) {
  return static_cast<std::uint32_t>(
      channel_rows_bytes(*static_cast<const payload::DepthwiseConv2dVectorsArgs*>(args)));
}

/// Returns whether the sizes are those that the kernel computes, and the table is as large.
inline bool depthwise_conv2d_vectors_accepts(const void* args) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dVectorsArgs*>(args);
  const payload::PackedConvParams& p = a.params;
  return a.filter_dims.h == 3 && a.filter_dims.w == 3 && a.filter_dims.c == 1 &&
         a.input_dims.c == a.output_dims.c && a.output_dims.c >= channel_vectors::kChannels &&
         p.stride.h <= 2 && p.stride.w <= 2 && p.dilation.h == 1 && p.dilation.w == 1 &&
         channel_columns(a) < (1u << 28) && channel_rows_bytes(a) < (1u << 28) &&
         a.block_words == channel_vectors::kBlockBytes / 4 &&
         a.blocks ==
             (a.output_dims.c + channel_vectors::kChannels - 1) / channel_vectors::kChannels;
}

/// Returns how many bytes before the input the output has to start: see
/// aot/cmsis_nn_delegate/providers/tuned/row_order.py. Operands have at most 2^28 bytes, so that nothing
/// overflows.
inline std::int32_t depthwise_conv2d_vectors_distance(
    const payload::DepthwiseConv2dVectorsArgs& a) {
  constexpr std::int32_t kTaps = 3;
  const payload::PackedDims& in = a.input_dims;
  const payload::PackedDims& out = a.output_dims;
  const std::int32_t stride = a.params.stride.h;
  const std::int32_t top = a.params.padding.h;
  const std::int32_t before = top - kTaps;
  const std::int32_t inside = before < 0 ? -1 : before / stride;
  const std::int32_t end = in.h - 1 + before;
  const std::int32_t reading = end < 0 ? -1 : end / stride;
  const std::int32_t last = reading < out.h - 2 ? reading : out.h - 2;
  std::int32_t most = 0;
  for (const std::int32_t row : {inside, inside + 1, last}) {
    const std::int32_t y = row < last ? row : last;
    if (y >= 0) {
      const std::int32_t next = y * stride - before;
      const std::int32_t ahead = (y + 1) * out.w - (next < 0 ? 0 : next) * in.w;
      most = ahead > most ? ahead : most;
    }
  }
  const std::int32_t growth = out.h * out.w - in.h * in.w;
  return (most + (growth > 0 ? growth * (out.n - 1) : 0)) * out.c;
}

inline bool depthwise_conv2d_vectors_overlaps(const void* args, std::int32_t distance) {
  return distance >= depthwise_conv2d_vectors_distance(
                         *static_cast<const payload::DepthwiseConv2dVectorsArgs*>(args));
}

/// Returns the kernel whose `run` calls compute_depthwise_conv2d_vectors().
constexpr Kernel depthwise_conv2d_vectors_kernel(Kernel::Run run) {
  return Kernel(operators::kDepthwiseConv2dVectors, run, depthwise_conv2d_vectors_scratch_bytes)
      .limited_to(depthwise_conv2d_vectors_accepts)
      .overlapping(depthwise_conv2d_vectors_overlaps)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
