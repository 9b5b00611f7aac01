// Depthwise convolution from a few rows of inputs in scratch memory, vector by vector of channels.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Whether the kernel with these arguments computes 3 x 3 taps only.
template <typename Args>
inline constexpr bool kThreeTaps = std::is_same_v<Args, payload::DepthwiseConv2dVectorsArgs> ||
                                   std::is_same_v<Args, payload::DepthwiseConv2dInt4VectorsArgs>;

/// The rows of the image from the first to the last that a row of outputs reads.
template <typename Args>
std::uint64_t channel_rows(const Args& a) {
  if constexpr (kThreeTaps<Args>) {
    return 3;
  } else {
    return (static_cast<std::uint64_t>(a.filter_dims.h) - 1) *
               static_cast<std::uint32_t>(a.params.dilation.h) +
           1;
  }
}

/// The columns of the image under a row of outputs, of which there are an even number.
template <typename Args>
std::uint64_t channel_columns(const Args& a) {
  const std::uint64_t outputs = (static_cast<std::uint64_t>(a.output_dims.w) + 1) / 2 * 2;
  if constexpr (kThreeTaps<Args>) {
    return (outputs - 1) * static_cast<std::uint32_t>(a.params.stride.w) + 3;
  } else {
    // A single window may have any stride.
    const std::uint32_t step =
        a.output_dims.w == 1 ? 1 : static_cast<std::uint32_t>(a.params.stride.w);
    return (outputs - 1) * step +
           (static_cast<std::uint64_t>(a.filter_dims.w) - 1) *
               static_cast<std::uint32_t>(a.params.dilation.w) +
           1;
  }
}

/// Returns the scratch memory: see DepthwiseConv2dVectors.scratch_bytes in Python.
template <typename Element, typename Args>
std::uint64_t channel_rows_bytes(const Args& a) {
  const std::uint64_t pixels = channel_rows(a) * channel_columns(a) + 1;
  return (pixels * static_cast<std::uint32_t>(a.input_dims.c) * sizeof(Element) + 15) / 16 * 16;
}

/// One call. `Vectors` has the functions of PlainChannelVectors.
template <typename Vectors, typename Args>
class ChannelRows {
 public:
  using Element = typename Vectors::Element;

  ChannelRows(const Args& args, const Bases& bases)
      : args_(args),
        rows_(static_cast<std::int32_t>(channel_rows(args))),
        columns_(static_cast<std::int32_t>(channel_columns(args))),
        row_size_(columns_ * args.input_dims.c),
        scratch_(bases.resolve<Element>(args.scratch)),
        padding_(scratch_ + rows_ * row_size_),
        image_(bases.resolve<const Element>(args.input)) {
    row_.table = bases.resolve<const std::int8_t>(args.table);
    row_.output = bases.resolve<Element>(args.output);
    row_.channels = args.output_dims.c;
    row_.outputs = args.output_dims.w;
    row_.least = args.params.activation.min;
    row_.most = args.params.activation.max;
    row_.form = args.form;
    row_.prepare(args, padding_, row_size_);
  }

  void run() {
    const payload::PackedDims& in = args_.input_dims;
    const payload::PackedDims& out = args_.output_dims;
    const std::int32_t stride = args_.params.stride.h;
    fill_padding();
    for (std::int32_t n = 0; n < out.n; ++n, image_ += in.h * in.w * in.c) {
      std::int32_t next = 0;  // the first row, counted from the padding on, that is not there yet
      Element* to = scratch_;
      Element* from = scratch_;  // the first row of the windows
      for (std::int32_t y = 0; y < out.h; ++y) {
        const std::int32_t first = y * stride;
        for (next = next < first ? first : next; next < first + rows_; ++next) {
          copy_row(to, next);
          to = behind(to, 1);
        }
        row_.take_rows(from, padding_, row_size_);
        Vectors::compute(row_);
        row_.output += out.w * out.c;
        from = stride < rows_ ? behind(from, stride) : to;
      }
    }
  }

 private:
  static constexpr auto kBytes = static_cast<std::int32_t>(sizeof(Element));

  /// Word by word, of which the last may overlap the one before: there are at least 8 channels, and memset() alone
  /// would be more code than this.
  void fill_padding() const {
    constexpr std::int32_t kWord = 4 / kBytes;
    std::uint32_t word = 0;
    if constexpr (kBytes == 1) {
      word = repeated<Element>(-args_.params.input_offset);
    }
    const std::int32_t last = args_.input_dims.c - kWord;
    for (std::int32_t i = 0; i < last + kWord; i += kWord) {
      std::memcpy(padding_ + (i < last ? i : last), &word, sizeof(word));
    }
  }

  /// The place `count` <= rows_ rows behind `place`: the first follows the last.
  Element* behind(Element* place, std::int32_t count) const {
    place += count * row_size_;
    return place < padding_ ? place : place - rows_ * row_size_;
  }

  void copy_row(Element* to, std::int32_t row) const {
    const payload::PackedDims& in = args_.input_dims;
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
      copy(to, image_ + y * in.w * in.c, 1, inside * in.c, 0);
    }
    pad(to + inside * in.c, columns_ - before - inside);
  }

  void pad(Element* to, std::int32_t columns) const {
    if (columns > 0) {
      copy(to, padding_, columns, args_.input_dims.c, args_.input_dims.c);
    }
  }

  /// Copies `count` elements to each of `columns` places that lie `step` elements apart.
  static void copy(Element* to, const Element* from, std::int32_t columns, std::int32_t count,
                   std::int32_t step) {
    Vectors::copy_columns(reinterpret_cast<std::int8_t*>(to),
                          reinterpret_cast<const std::int8_t*>(from), columns, count * kBytes,
                          step * kBytes, 0);
  }

  const Args& args_;
  std::int32_t rows_;
  std::int32_t columns_;
  std::int32_t row_size_;
  Element* scratch_;
  Element* padding_;  // a pixel of the zero point, behind the rows
  const Element* image_;
  typename Vectors::Row row_;
};

/// Computes one call: the body of a kernel's function, which has no call more for it.
template <typename Vectors, typename Args>
[[gnu::always_inline]] inline Error compute_depthwise_vectors(const void* args,
                                                              const Bases& bases) {
  ChannelRows<Vectors, Args>(*static_cast<const Args*>(args), bases).run();
  return Error::Ok;
}

/// Returns the scratch memory that one call needs.
template <typename Element, typename Args>
std::uint32_t depthwise_vectors_scratch_bytes(const void* args) {
  return static_cast<std::uint32_t>(channel_rows_bytes<Element>(*static_cast<const Args*>(args)));
}

/// The words of a block of 8 channels, with weights of 8 bits for `taps`, sums for inputs of 0 and scales.
constexpr std::uint32_t depthwise_vectors_block_words(std::uint32_t taps) { return 24 + 2 * taps; }

/// Returns whether the sizes are those that the kernel computes, and the table is as large: `kBlockWords` says how many
/// words a block has.
template <typename Element, typename Args, std::uint32_t (*kBlockWords)(std::uint32_t taps)>
bool depthwise_vectors_accepts(const void* args) {
  constexpr std::int32_t kChannels = 8;  // of a block
  constexpr std::uint64_t kMostRows = 1u << 15;
  const auto& a = *static_cast<const Args*>(args);
  const auto& p = a.params;
  std::uint32_t taps = 9;
  if constexpr (kThreeTaps<Args>) {
    if (a.filter_dims.h != 3 || a.filter_dims.w != 3 || p.dilation.h != 1 || p.dilation.w != 1 ||
        p.stride.h > 2 || p.stride.w > 2) {
      return false;
    }
  } else {
    taps =
        static_cast<std::uint32_t>(a.filter_dims.h) * static_cast<std::uint32_t>(a.filter_dims.w);
    if (channel_rows(a) > kMostRows || taps > kMostRows) {
      return false;
    }
  }
  return a.filter_dims.c == 1 && a.input_dims.c == a.output_dims.c &&
         a.output_dims.c >= kChannels && channel_columns(a) < (1u << 28) &&
         channel_rows_bytes<Element>(a) < (1u << 28) &&
         static_cast<std::uint32_t>(a.block_words) == kBlockWords(taps) &&
         a.blocks == (a.output_dims.c + kChannels - 1) / kChannels;
}

/// Returns how many bytes before the input the output has to start: see
/// aot/cmsis_nn_delegate/providers/tuned/row_order.py. Operands have at most 2^28 bytes, so that nothing
/// overflows.
template <typename Element, typename Args>
std::int32_t depthwise_vectors_distance(const Args& a) {
  const auto rows = static_cast<std::int32_t>(channel_rows(a));
  const payload::PackedDims& in = a.input_dims;
  const payload::PackedDims& out = a.output_dims;
  const std::int32_t stride = a.params.stride.h;
  const std::int32_t top = a.params.padding.h;
  const std::int32_t before = top - rows;
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
  return (most + (growth > 0 ? growth * (out.n - 1) : 0)) * out.c *
         static_cast<std::int32_t>(sizeof(Element));
}

template <typename Element, typename Args>
bool depthwise_vectors_overlaps(const void* args, std::int32_t distance) {
  return distance >= depthwise_vectors_distance<Element>(*static_cast<const Args*>(args));
}

/// Returns the kernel whose `run` calls compute_depthwise_vectors().
template <typename Element, typename Args,
          std::uint32_t (*kBlockWords)(std::uint32_t taps) = depthwise_vectors_block_words>
constexpr Kernel depthwise_vectors_kernel(const Operator& computed, Kernel::Run run) {
  return Kernel(computed, run, depthwise_vectors_scratch_bytes<Element, Args>)
      .limited_to(depthwise_vectors_accepts<Element, Args, kBlockWords>)
      .overlapping(depthwise_vectors_overlaps<Element, Args>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
