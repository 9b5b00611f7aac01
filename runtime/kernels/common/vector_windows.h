// Convolution as products of four windows with two filters, vector by vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtime/kernels/common/groups.h"
#include "runtime/kernels/common/vector_products.h"
#include "runtime/kernels/common/window_order.h"
#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/bounds.h"

namespace cmsis_nn_delegate::portable {

/// Whether what several windows have of a line of the image is copied at once. That takes 1.2 KB of code.
#ifdef __OPTIMIZE_SIZE__
inline constexpr bool kCopiesStrips = false;
#else
inline constexpr bool kCopiesStrips = true;
#endif

/// The sizes that follow from those of a call; `kInputs` are those of a vector of the products.
template <typename Element, typename Args,
          std::int32_t kInputs = vector_products::kVectorOf<Element>>
struct VectorSizes {
  [[gnu::noinline]] explicit VectorSizes(const Args& a)
      : inputs(bounds::volume(a.filter_dims.h, a.filter_dims.w, a.filter_dims.c)),
        depth((inputs + kVector - 1) / kVector * kVector),
        tile_columns(least(a.output_dims.w, 8)),
        tile_rows(tile_columns == 8 ? 1 : least(a.output_dims.h, rows_for(tile_columns))),
        columns((static_cast<std::uint64_t>(tile_columns) - 1) *
                    static_cast<std::uint32_t>(a.params.stride.w) +
                static_cast<std::uint32_t>(a.filter_dims.w)) {
    const auto& p = a.params;
    pointwise = a.filter_dims.h == 1 && a.filter_dims.w == 1 && p.padding.h == 0 &&
                p.padding.w == 0 && reaches(a.output_dims.h, p.stride.h) < wide(a.input_dims.h) &&
                reaches(a.output_dims.w, p.stride.w) < wide(a.input_dims.w);
    by_lines = a.filter_dims.h > 1 && a.filter_dims.c == a.input_dims.c &&
               bounds::volume(a.filter_dims.w, a.filter_dims.c) <= kLine;
  }

  /// Elements of the copies of one row of a tile: at most 2^54.
  std::uint64_t row_size(const Args& a) const {
    return by_lines ? static_cast<std::uint32_t>(tile_columns) * inputs
                    : columns * bounds::volume(a.filter_dims.h, a.filter_dims.c);
  }

  /// Returns the scratch memory: see Conv2dVectors.scratch_bytes in Python.
  template <bool kGrouped = false>
  [[gnu::noinline]] std::uint64_t scratch_bytes(const Args& a) const {
    if (pointwise) {
      return inputs == depth ? 0 : depth * vector_products::kWindows * sizeof(Element);
    }
    const std::uint64_t rows = row_size(a) * static_cast<std::uint32_t>(tile_rows);
    const std::int32_t pixel = kGrouped ? a.filter_dims.c : a.input_dims.c;
    const std::uint64_t padding = by_lines ? kLine : static_cast<std::uint32_t>(pixel);
    return ((rows + kVector + padding) * sizeof(Element) + 15) / 16 * 16;
  }

  static constexpr std::uint64_t kVector = kInputs;
  static constexpr std::uint64_t kLine =
      vector_products::kVectorOf<Element>;  // elements of 16 bytes

  std::uint64_t inputs;  // of a window
  std::uint64_t depth;   // rounded up to vectors
  std::int32_t tile_columns;
  std::int32_t tile_rows;
  std::uint64_t columns;  // of the image under a row of a tile
  bool pointwise;         // windows are pixels of the image
  // Windows have lines of at most 16 bytes. They are copied line by line, each for itself, and have the order [h, w, c]:
  // that takes fewer instructions than the pixels of the columns that they share.
  bool by_lines;

 private:
  static std::uint64_t wide(std::int32_t value) { return static_cast<std::uint32_t>(value); }
  static std::int32_t least(std::int32_t a, std::int32_t b) { return a < b ? a : b; }
  /// How many rows of less than 8 pixels make groups of four.
  static std::int32_t rows_for(std::int32_t columns) {
    return columns % 4 == 0 ? 1 : columns % 2 == 0 ? 2 : 4;
  }
  /// Where the last of `count` windows begins.
  static std::uint64_t reaches(std::int32_t count, std::int32_t stride) {
    return (wide(count) - 1) * wide(stride);
  }
};

/// One call. `Products` has the functions of PlainVectorProductsOf. With `kGrouped` there are several groups, which
/// are computed one after the other; each has an even number of output channels. What differs is chosen in place, not by a
/// function, because GCC then compiles kernels of one group as it did without.
template <typename Products, typename Args, bool kGrouped = false,
          std::int32_t kInputs = vector_products::kVectorOf<typename Products::Element>>
class VectorWindows {
 public:
  using Element = typename Products::Element;

  VectorWindows(const Args& args, const Bases& bases)
      : args_(args),
        sizes_(args),
        depth_(static_cast<std::int32_t>(sizes_.depth)),
        scratch_(bases.resolve<Element>(args.scratch)),
        input_(bases.resolve<const Element>(args.input)) {
    const std::int32_t channels =
        kGrouped ? args.output_dims.c / groups() : args.output_dims.c;  // of a group
    products_.table = bases.resolve<const std::int8_t>(args.table);
    products_.output = bases.resolve<Element>(args.output);
    products_.channels = channels;
    products_.vectors = depth_ / kVector;
    if constexpr (kBytes == 1) {
      products_.zero_point = args.params.output_offset;
    } else {
      products_.zero_point = 0;
    }
    products_.least = args.params.activation.min;
    products_.most = args.params.activation.max;
    products_.form = args.form;
    set_offsets(kWindows);
  }

  void run() {
    if (sizes_.pointwise) {
      run_pointwise();
    } else {
      run_tiles();
    }
  }

  /// The same with kGrouped.
  void run_groups() {
    const payload::PackedDims& in = args_.input_dims;
    end_ = input_ + in.n * in.h * in.w * in.c;
    Element* output = products_.output;
    const std::int32_t table_bytes =
        products_.channels / vector_products::kChannels * args_.block_words * 4;
    for (std::int32_t left = groups(); left > 0; --left) {
      run();
      output += products_.channels;
      products_.output = output;
      products_.table += table_bytes;
      input_ += args_.filter_dims.c;
    }
  }

 private:
  static constexpr std::int32_t kWindows = vector_products::kWindows;
  static constexpr std::int32_t kVector = kInputs;
  static constexpr std::int32_t kLine = vector_products::kVectorOf<Element>;
  static constexpr auto kBytes = static_cast<std::int32_t>(sizeof(Element));

  std::int32_t groups() const { return args_.input_dims.c / args_.filter_dims.c; }

  /// Results of missing windows lie on those of the last one. Not inlined: GCC unrolls it at each of three calls.
  [[gnu::noinline]] void set_offsets(std::int32_t count) {
    for (std::int32_t i = 0; i < kWindows; ++i) {
      const std::int32_t offset = (i < count ? i : count - 1) * args_.output_dims.c;
      products_.offsets[2 * i] = static_cast<std::uint16_t>(offset * kBytes);
      products_.offsets[2 * i + 1] = static_cast<std::uint16_t>((offset + 1) * kBytes);
    }
  }

  /// Multiplies `groups` >= 1 groups of four windows that lie `step` apart.
  [[gnu::noinline]] void multiply_groups(const Element* first, std::int32_t step,
                                         std::int32_t groups) {
    if constexpr (kGrouped) {
      // The products would write the results of a group of windows behind those of the one before.
      for (; groups > 0; --groups, first += kWindows * step) {
        for (std::int32_t i = 0; i < kWindows; ++i) {
          products_.windows[i] = first + i * step;
        }
        multiply_group(kWindows);
      }
      return;
    }
    for (std::int32_t i = 0; i < kWindows; ++i) {
      products_.windows[i] = first + i * step;
    }
    products_.windows_step = kWindows * step * kBytes;
    products_.groups = groups;
    Products::multiply(products_);
    products_.output += groups * kWindows * products_.channels;
  }

  /// Multiplies `count` windows, one to four, of which the first are given in products_.
  [[gnu::noinline]] void multiply_group(std::int32_t count) {
    products_.groups = 1;
    if (count == kWindows) {
      Products::multiply(products_);
    } else {
      for (std::int32_t i = count; i < kWindows; ++i) {
        products_.windows[i] = products_.windows[count - 1];
      }
      set_offsets(count);
      Products::multiply(products_);
      set_offsets(kWindows);
    }
    products_.output += count * args_.output_dims.c;
  }

  void run_pointwise() {
    const payload::PackedDims& in = args_.input_dims;
    const payload::PackedDims& out = args_.output_dims;
    // A single window may have any stride.
    const std::int32_t step = out.w == 1 ? in.c : args_.params.stride.w * in.c;
    const Element* end;
    if constexpr (kGrouped) {
      end = end_;
    } else {
      end = input_ + in.n * in.h * in.w * in.c;
    }
    if (in.h == out.h && in.w == out.w) {
      run_pixels(input_, in.c, out.n * out.h * out.w, end);
      return;
    }
    const Element* image = input_;
    for (std::int32_t n = 0; n < out.n; ++n, image += in.h * in.w * in.c) {
      for (std::int32_t y = 0; y < out.h; ++y) {
        run_pixels(image + y * args_.params.stride.h * in.w * in.c, step, out.w, end);
      }
    }
  }

  /// Multiplies `count` pixels that lie `step` apart. Vectors may reach into the next pixels, whose
  /// weights are 0, but not past `end`: then pixels are copied.
  [[gnu::noinline]] void run_pixels(const Element* first, std::int32_t step, std::int32_t count,
                                    const Element* end) {
    const auto room = static_cast<std::int32_t>(end - first) - depth_;
    std::int32_t whole = room < 0 ? 0 : room / step + 1;
    whole = whole < count ? whole : count;
    const std::int32_t groups = whole / kWindows;
    if (groups != 0) {
      multiply_groups(first, step, groups);
    }
    for (std::int32_t done = groups * kWindows; done < count; done += kWindows) {
      const std::int32_t some = count - done < kWindows ? count - done : kWindows;
      for (std::int32_t i = 0; i < some; ++i) {
        const Element* pixel = first + (done + i) * step;
        if (done + i >= whole) {
          Element* copy = scratch_ + i * depth_;
          copy_columns(copy, pixel, 1, pixel_size(), 0, 0);
          pixel = copy;
        }
        products_.windows[i] = pixel;
      }
      multiply_group(some);
    }
  }

  void run_tiles() {
    const payload::PackedDims& in = args_.input_dims;
    const payload::PackedDims& out = args_.output_dims;
    row_size_ = static_cast<std::int32_t>(sizes_.row_size(args_));
    strip_columns_ = sizes_.by_lines ? args_.filter_dims.w : 1;
    strip_step_ = sizes_.by_lines ? args_.params.stride.w : 1;
    line_size_ = strip_columns_ * pixel_size();
    strip_size_ = args_.filter_dims.h * line_size_;
    column_step_ = sizes_.by_lines ? pixel_size() : strip_size_;
    in_strips_ = !kGrouped && args_.filter_dims.h > 1 && in.c <= kLine / strip_columns_;
    padding_ = scratch_ + sizes_.tile_rows * row_size_ + kVector;
    Element zero_point = 0;
    if constexpr (kBytes == 1) {
      zero_point = static_cast<Element>(-args_.params.input_offset);
    }
    copy_columns(padding_, &zero_point, padding_size(), 1, 1, 0);
    image_ = input_;
    for (std::int32_t n = 0; n < out.n; ++n, image_ += in.h * in.w * in.c) {
      for (std::int32_t y = 0; y < out.h; y += sizes_.tile_rows) {
        for (std::int32_t x = 0; x < out.w; x += sizes_.tile_columns) {
          run_tile(y, x);
        }
      }
    }
  }

  void run_tile(std::int32_t y, std::int32_t x) {
    const payload::PackedDims& out = args_.output_dims;
    const payload::PackedTile& stride = args_.params.stride;
    const std::int32_t rows = out.h - y < sizes_.tile_rows ? out.h - y : sizes_.tile_rows;
    const std::int32_t columns = out.w - x < sizes_.tile_columns ? out.w - x : sizes_.tile_columns;
    Element* row = scratch_;
    const std::int32_t left = x * stride.w - args_.params.padding.w;
    for (std::int32_t i = 0; i < rows; ++i, row += row_size_) {
      const std::int32_t top = (y + i) * stride.h - args_.params.padding.h;
      const std::int32_t under = (columns - 1) * stride.w + args_.filter_dims.w;
      if (kCopiesStrips && in_strips_) {
        copy_strips(row, top, left, sizes_.by_lines ? columns : under);
      } else if (!kCopiesStrips && sizes_.by_lines) {
        for (std::int32_t k = 0; k < columns; ++k) {
          copy_row(row + k * strip_size_, top, left + k * stride.w, strip_columns_);
        }
      } else {
        copy_row(row, top, left, under);
      }
    }
    const std::int32_t step = columns == 1      ? 0
                              : sizes_.by_lines ? strip_size_
                                                : stride.w * strip_size_;
    if (columns % kWindows == 0) {  // then there is one row
      multiply_groups(scratch_, step, columns / kWindows);
      return;
    }
    const Element* window = scratch_;
    std::int32_t count = 0;
    for (std::int32_t i = 0; i < rows; ++i) {
      window = scratch_ + i * row_size_;
      for (std::int32_t k = 0; k < columns; ++k, window += step) {
        products_.windows[count++] = window;
        if (count == kWindows) {
          multiply_group(count);
          count = 0;
        }
      }
    }
    if (count != 0) {
      multiply_group(count);
    }
  }

  /// Copies `columns` of the image, from (y, x) on, as high as the filter; the zero point where
  /// they lie in the padding.
  void copy_row(Element* to, std::int32_t y, std::int32_t x, std::int32_t columns) const {
    const payload::PackedDims& in = args_.input_dims;
    const std::int32_t before = limit(-x, columns);
    const std::int32_t inside = limit(in.w - (x > 0 ? x : 0), columns - before);
    for (std::int32_t k = 0; k < args_.filter_dims.h; ++k, ++y, to += line_size_) {
      if (y < 0 || y >= in.h) {
        pad(to, columns);
        continue;
      }
      pad(to, before);
      Element* const at = to + before * column_step_;
      if (inside > 0) {
        const Element* from = image_ + (y * in.w + x + before) * in.c;
        // The columns of a filter of one line lie one behind the other.
        if (!kGrouped && column_step_ == in.c) {
          copy_columns(at, from, 1, inside * in.c, 0, 0);
        } else {
          copy_columns(at, from, inside, pixel_size(), column_step_, in.c);
        }
      }
      pad(at + inside * column_step_, columns - before - inside);
    }
  }

  /// Copies `count` strips, of which the first begins at (y, x), one behind the other and line by line; the zero point
  /// where they lie in the padding.
  void copy_strips(Element* to, std::int32_t y, std::int32_t x, std::int32_t count) const {
    const payload::PackedDims& in = args_.input_dims;
    const std::int32_t height = args_.filter_dims.h;
    std::int32_t end = x + (count - 1) * strip_step_ + strip_columns_;
    if (y <= 0 || y + height >= in.h || x < -in.w || end > 2 * in.w) {
      copy_strips_at_edge(to, y, x, count);
      return;
    }
    // Lines that begin left of the image, or end right of it, have pixels of the lines above or below instead.
    copy_lines(to, y, x, count, height);
    Element* const last = to + (count - 1) * strip_size_;
    for (Element* strip = to; x < 0 && strip <= last; x += strip_step_, strip += strip_size_) {
      pad_lines(strip, limit(-x, strip_columns_), height);
    }
    for (Element* strip = last; end > in.w && strip >= to;
         end -= strip_step_, strip -= strip_size_) {
      const std::int32_t columns = limit(end - in.w, strip_columns_);
      pad_lines(strip + line_size_ - columns * in.c, columns, height);
    }
  }

  /// Puts the zero point into `columns` columns of `lines` lines of a strip, from `to` on.
  void pad_lines(Element* to, std::int32_t columns, std::int32_t lines) const {
    copy_columns(to, padding_, lines, columns * args_.input_dims.c, line_size_, 0);
  }

  /// Copies `lines` lines of `count` strips, of which the first begins at (y, x).
  void copy_lines(Element* to, std::int32_t y, std::int32_t x, std::int32_t count,
                  std::int32_t lines) const {
    const payload::PackedDims& in = args_.input_dims;
    const Element* from = image_ + (y * in.w + x) * in.c;
    Products::copy_windows(reinterpret_cast<std::int8_t*>(to),
                           reinterpret_cast<const std::int8_t*>(from), count, lines,
                           line_size_ * kBytes, in.w * in.c * kBytes, strip_size_ * kBytes,
                           strip_step_ * in.c * kBytes);
  }

  /// The same as copy_strips() wherever the strips lie.
  [[gnu::noinline]] void copy_strips_at_edge(Element* to, std::int32_t y, std::int32_t x,
                                             std::int32_t count) const {
    const payload::PackedDims& in = args_.input_dims;
    const std::int32_t height = args_.filter_dims.h;
    const std::int32_t above = limit(-y, height);
    const std::int32_t lines = limit(in.h - (y > 0 ? y : 0), height - above);
    if (lines > 0) {
      Element* strip = to + above * line_size_;
      // Strips before `first` begin left of the image, and those from `last` on end right of it.
      const std::int32_t first = x < 0 ? limit((strip_step_ - 1 - x) / strip_step_, count) : 0;
      const std::int32_t room = in.w - strip_columns_ - x;
      const std::int32_t last = room < 0 ? 0 : limit(room / strip_step_ + 1, count);
      if (first < last) {
        copy_lines(strip + first * strip_size_, y + above, x + first * strip_step_, last - first,
                   lines);
      }
      for (std::int32_t i = 0; i < count; ++i, x += strip_step_, strip += strip_size_) {
        if (i < first || i >= last) {
          copy_strip_at_edge(strip, y + above, x, lines);
        }
      }
    }
    // Last, because copy_lines() may have written past its lines, into these.
    for (std::int32_t k = 0; k < height; ++k, to += line_size_) {
      if (k < above || k >= above + lines) {
        copy_columns(to, padding_, count, line_size_, strip_size_, 0);
      }
    }
  }

  /// Copies `lines` lines, from line y of the image on, of a strip that begins at column x and of which some or all
  /// columns lie left or right of the image.
  void copy_strip_at_edge(Element* to, std::int32_t y, std::int32_t x, std::int32_t lines) const {
    const payload::PackedDims& in = args_.input_dims;
    const std::int32_t before = limit(-x, strip_columns_);
    const std::int32_t inside = limit(in.w - (x > 0 ? x : 0), strip_columns_ - before);
    const std::int32_t after = strip_columns_ - before - inside;
    if (before > 0) {
      pad_lines(to, before, lines);
    }
    if (inside > 0) {
      copy_columns(to + before * in.c, image_ + (y * in.w + x + before) * in.c, lines,
                   inside * in.c, line_size_, in.w * in.c);
    }
    if (after > 0) {
      pad_lines(to + line_size_ - after * in.c, after, lines);
    }
  }

  void pad(Element* to, std::int32_t columns) const {
    if (columns > 0) {
      copy_columns(to, padding_, columns, pixel_size(), column_step_, 0);
    }
  }

  /// Copies `count` >= 1 elements from each of `columns` >= 1 places; steps are elements too.
  static void copy_columns(Element* to, const Element* from, std::int32_t columns,
                           std::int32_t count, std::int32_t to_step, std::int32_t from_step) {
    Products::copy_columns(reinterpret_cast<std::int8_t*>(to),
                           reinterpret_cast<const std::int8_t*>(from), columns, count * kBytes,
                           to_step * kBytes, from_step * kBytes);
  }

  /// `value` limited to [0, most].
  static std::int32_t limit(std::int32_t value, std::int32_t most) {
    return value < 0 ? 0 : value > most ? most : value;
  }

  /// Elements of a pixel of a group.
  std::int32_t pixel_size() const { return kGrouped ? args_.filter_dims.c : args_.input_dims.c; }

  /// How many elements of the zero point are kept.
  std::int32_t padding_size() const { return in_strips_ ? line_size_ : pixel_size(); }

  const Args& args_;
  VectorSizes<Element, Args, kInputs> sizes_;
  std::int32_t depth_;
  Element* scratch_;
  const Element* input_;
  const Element* image_ = nullptr;
  Element* padding_ = nullptr;  // a pixel of the zero point, or a line of a strip
  std::int32_t row_size_ = 0;   // elements of the copies of a row of a tile
  // Copies are made of strips of `strip_size_` elements, line by line: a window, or a column under the filter, which
  // windows share.
  std::int32_t strip_columns_ = 1;
  std::int32_t strip_step_ = 1;  // columns from one strip to the next one
  std::int32_t line_size_ = 0;   // elements
  std::int32_t strip_size_ = 0;
  std::int32_t column_step_ =
      0;  // elements of the copies, from one column of the image to the next one
  bool in_strips_ =
      false;  // whether a line has at most 16 bytes; then several strips are copied at once
  VectorProductsOf<Element> products_;
  struct Nothing {};
  std::conditional_t<kGrouped, const Element*, Nothing> end_;  // of the input
};

/// Computes one call: the body of a kernel's function, which has no call more for it.
template <typename Products, typename Args>
[[gnu::always_inline]] inline Error compute_conv2d_vectors(const void* args, const Bases& bases) {
  VectorWindows<Products, Args>(*static_cast<const Args*>(args), bases).run();
  return Error::Ok;
}

/// Returns the scratch memory that one call needs.
template <typename Element, typename Args>
std::uint32_t conv2d_vectors_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  return static_cast<std::uint32_t>(VectorSizes<Element, Args>(a).scratch_bytes(a));
}

/// Returns whether the table has as many words as the sizes ask for, in one group without gaps, and
/// nothing is too large. A word has the weights of 2 channels for `kInputsPerWord` inputs, of 4 bits if these are 4.
template <typename Element, typename Args, std::uint32_t kInputsPerWord = 2>
bool conv2d_vectors_accepts(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 28;
  constexpr std::int32_t kMostChannels = (1 << 14) / static_cast<std::int32_t>(sizeof(Element));
  const VectorSizes<Element, Args> sizes(a);
  return a.input_dims.c == a.filter_dims.c && a.params.dilation.h == 1 &&
         a.params.dilation.w == 1 && a.output_dims.c >= 2 && a.output_dims.c <= kMostChannels &&
         sizes.inputs < kLimit && sizes.columns < kLimit && sizes.scratch_bytes(a) < kLimit &&
         sizes.depth / kInputsPerWord + (kInputsPerWord == 2 ? 6 : 4) ==
             static_cast<std::uint32_t>(a.block_words) &&
         a.blocks == (a.output_dims.c + 1) / 2;
}

/// The same for several groups, of which each has as many output channels, an even number.
template <typename Element, typename Args>
bool conv2d_grouped_vectors_accepts(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 28;
  constexpr std::int32_t kMostChannels = (1 << 14) / static_cast<std::int32_t>(sizeof(Element));
  const VectorSizes<Element, Args> sizes(a);
  return in_groups_of<2>(a) && a.params.dilation.h == 1 && a.params.dilation.w == 1 &&
         a.output_dims.c <= kMostChannels && sizes.inputs < kLimit && sizes.columns < kLimit &&
         sizes.template scratch_bytes<true>(a) < kLimit &&
         sizes.depth / 2 + 6 == static_cast<std::uint32_t>(a.block_words) &&
         a.blocks == a.output_dims.c / 2;
}

/// Returns whether nothing is overwritten before it is read, as Conv2dVectors.distance in Python
/// explains.
template <typename Element, typename Args>
bool conv2d_vectors_overlaps(const void* args, std::int32_t distance) {
  const auto& a = *static_cast<const Args*>(args);
  const bool again = a.filter_dims.h == 1 && a.filter_dims.w == 1;
  return distance >= static_cast<std::int32_t>(sizeof(Element)) *
                         (window_order_distance(a.params, a.input_dims, a.output_dims) +
                          (again ? vector_products::kWindows * a.output_dims.c : 0));
}

/// Returns the kernel with the argument block `Args` whose `run` calls compute_conv2d_vectors().
template <typename Element, typename Args, std::uint32_t kInputsPerWord = 2>
constexpr Kernel conv2d_vectors_kernel(const Operator& op, Kernel::Run run) {
  return Kernel(op, run, conv2d_vectors_scratch_bytes<Element, Args>)
      .limited_to(conv2d_vectors_accepts<Element, Args, kInputsPerWord>)
      .overlapping(conv2d_vectors_overlaps<Element, Args>)
      .only_of(payload::ProviderId::kTuned);
}

/// Computes one call of several groups.
template <typename Products, typename Args>
[[gnu::always_inline]] inline Error compute_conv2d_grouped_vectors(const void* args,
                                                                   const Bases& bases) {
  VectorWindows<Products, Args, true>(*static_cast<const Args*>(args), bases).run_groups();
  return Error::Ok;
}

/// Returns the scratch memory that one call of several groups needs.
template <typename Element, typename Args>
std::uint32_t conv2d_grouped_vectors_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  return static_cast<std::uint32_t>(VectorSizes<Element, Args>(a).template scratch_bytes<true>(a));
}

/// Returns the kernel with the argument block `Args` whose `run` calls compute_conv2d_grouped_vectors(). Its output lies
/// apart from its input, because later groups read pixels of which earlier ones have written outputs.
template <typename Element, typename Args>
constexpr Kernel conv2d_grouped_vectors_kernel(const Operator& op, Kernel::Run run) {
  return Kernel(op, run, conv2d_grouped_vectors_scratch_bytes<Element, Args>)
      .limited_to(conv2d_grouped_vectors_accepts<Element, Args>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
