// Convolution as products of two windows with blocks of four filters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtime/kernels/common/groups.h"
#include "runtime/kernels/common/pair_products.h"
#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/common/window_order.h"
#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/bounds.h"

namespace cmsis_nn_delegate::portable {

/// Whether `Products` has widen_segments(a, b, out, segments).
template <typename Products, typename = void>
struct WidensSegments : std::false_type {};
template <typename Products>
struct WidensSegments<Products, std::void_t<decltype(&Products::widen_segments)>> : std::true_type {
};

/// Whether `Products` skips limits that are crossed: those of int8, which saturated results need not be compared with.
template <typename Products, typename = void>
struct LimitsAreOptional : std::false_type {};
template <typename Products>
struct LimitsAreOptional<Products, std::void_t<decltype(Products::kLimitsAreOptional)>>
    : std::true_type {};

/// The windows of one call, row by row. `Products` has the functions of PlainPairProducts or of
/// PlainPairProductsInt16. With `kGrouped` there are several groups, and the windows of one have some channels of each
/// pixel. What differs is chosen in place, not by a function, because GCC then compiles kernels of one group as it did
/// without.
template <typename Products, typename Args, bool kGrouped = false>
class PairWindows {
 public:
  using Element = typename Products::Element;

  /// `args` is borrowed.
  PairWindows(const Args& args, std::int32_t* widened)
      : args_(args),
        widened_(widened),
        pixel_size_(args.input_dims.c),
        row_size_(args.input_dims.w * args.input_dims.c),
        stride_(args.params.stride.w),
        dense_((!kGrouped && args.params.dilation.w == 1) || args.filter_dims.w == 1),
        segment_(dense_ ? args.filter_dims.w * (kGrouped ? args.filter_dims.c : args.input_dims.c)
                        : (kGrouped ? args.filter_dims.c : args.input_dims.c)),
        segments_(dense_ ? 1 : args.filter_dims.w),
        row_step_(args.filter_dims.h == 1 ? 0 : wrapping_mul(args.params.dilation.h, row_size_)),
        step_(dense_ ? 0 : wrapping_mul(args.params.dilation.w, args.input_dims.c)),
        inputs_(args.filter_dims.h * args.filter_dims.w *
                (kGrouped ? args.filter_dims.c : args.input_dims.c)),
        whole_words_(segment_ % 4 == 0),
        one_run_(whole_words_ && segment_ == inputs_),
        last_y_(args.input_dims.h - 1 - (args.filter_dims.h - 1) * args.params.dilation.h),
        last_x_(args.input_dims.w - 1 - (args.filter_dims.w - 1) * args.params.dilation.w),
        end_x_(args.output_dims.w * args.params.stride.w - args.params.padding.w),
        window_step_(wrapping_mul(stride_, pixel_size_)) {
    // The second one neither reaches beyond the image nor ends the row.
    const std::int32_t ends = (last_x_ < end_x_ - 2 * stride_ ? last_x_ : end_x_ - 2 * stride_) + 1;
    row_both_inside_ = ends > stride_ ? static_cast<std::uint32_t>(ends - stride_) : 0;
    if (!one_run_) {
      in_image_ = segments_of(row_step_, step_);
    }
    if (!whole_words_) {
      in_copies_ = segments_of(segments_ * segment_, segment_);
    }
  }

  /// Goes to the first window of `image`, or of the group whose first channel that is.
  void start(const Element* image) {
    image_ = image;
    start_row(-args_.params.padding.h);
  }

  /// Widens the inputs of the next two windows, or twice those of the next one.
  void widen(bool two) {
    const Element* a = image_ + row_ + x_ * pixel_size_;
    const Element* b = a + window_step_;
    if (two && static_cast<std::uint32_t>(x_) < both_inside_) {
      x_ += 2 * stride_;
    } else {
      std::tie(a, b) = next_two(two);
      if (a == nullptr) {
        return;
      }
    }
    gather(a, b);
  }

  /// Inputs of a window, rounded up to what the inner loop takes at a time.
  std::int32_t depth() const { return (inputs_ + 7) / 8 * 8; }

 private:
  // Inputs that are as wide as those of the products.
  static constexpr bool kWide = sizeof(Element) == 2;

  struct Window {
    std::int32_t at;  // from the image; valid only if inside
    std::int32_t y;
    std::int32_t x;
    bool inside;  // of the image, with all its inputs
  };

  /// Returns where the next two windows begin, or twice where the next one does, if all inputs lie in the image. If not, it
  /// widens them and returns null pointers.
  [[gnu::noinline]] std::pair<const Element*, const Element*> next_two(bool two) {
    const Window a = next();
    const Window b = two ? next() : a;
    if (a.inside && b.inside) {
      return {image_ + a.at, image_ + b.at};
    }
    if constexpr (kWide) {
      spread(a, reinterpret_cast<Element*>(widened_));
      spread(b, reinterpret_cast<Element*>(widened_ + 1));
    } else {
      const std::int32_t bytes = (inputs_ + 3) / 4 * 4;
      auto* const copies = reinterpret_cast<std::int8_t*>(widened_) + depth() * 4;
      copy(a, copies);
      copy(b, copies + bytes);
      if (whole_words_) {
        Products::widen(copies, copies + bytes, widened_, inputs_ / 4);
      } else {
        gather_segments(copies, copies + bytes, in_copies_);
      }
    }
    return {nullptr, nullptr};
  }

  Window next() {
    const bool inside = row_inside_ && x_ >= 0 && x_ <= last_x_;
    const Window w = {inside ? row_ + x_ * pixel_size_ : 0, y_, x_, inside};
    x_ += stride_;
    if (x_ == end_x_) {
      start_row(y_ + args_.params.stride.h);
    }
    return w;
  }

  void start_row(std::int32_t y) {
    y_ = y;
    x_ = -args_.params.padding.w;
    row_inside_ = y >= 0 && y <= last_y_;
    row_ = row_inside_ ? y * row_size_ : 0;
    both_inside_ = row_inside_ ? row_both_inside_ : 0;
  }

  const Element* pixel(std::int32_t y, std::int32_t x) const {
    return image_ + y * row_size_ + x * args_.input_dims.c;
  }

  /// Widens two windows of the image that begin at `a` and `b`.
  void gather(const Element* a, const Element* b) const {
    if (one_run_) {
      Products::widen(a, b, widened_, inputs_ / 4);
    } else {
      gather_segments(a, b, in_image_);
    }
  }

  /// The same for any segments, in the order of the weights (pair_table.py): first their whole words, then what is left of
  /// them. What follows the last input is multiplied with weights of 0.
  void gather_segments(const Element* a, const Element* b, const PairSegments& segments) const {
    if constexpr (WidensSegments<Products>::value) {
      Products::widen_segments(a, b, widened_, segments);
    } else {
      widen_segments(a, b, segments);
    }
  }

  /// Returns the segments of a window, which are as far apart as these numbers of elements say.
  PairSegments segments_of(std::int32_t row, std::int32_t step) const {
    PairSegments s;
    s.sixteens = segment_ / 16;
    s.more = segment_ % 16;
    s.words = s.more / 4;
    s.rest = segment_ % 4;
    s.segments = segments_;
    s.rows = args_.filter_dims.h;
    s.step = wrapping_sub(step, segment_);
    s.row_step = wrapping_sub(row, wrapping_mul(segments_, step));
    s.rests =
        (inputs_ - s.rows * segments_ * s.rest) * static_cast<std::int32_t>(sizeof(*widened_));
    return s;
  }

  /// What Products::widen_segments() does in assembly.
  [[gnu::noinline]] void widen_segments(const Element* a, const Element* b,
                                        const PairSegments& s) const {
    std::int32_t* out = widened_;
    std::int32_t* const rests = out + s.rests / static_cast<std::int32_t>(sizeof(*out));
    std::int32_t at = 0;
    std::int32_t count = 0;
    for (std::int32_t y = 0; y < s.rows; ++y) {
      for (std::int32_t i = 0; i < s.segments; ++i) {
        const std::int32_t words = s.sixteens * 4 + s.words;
        if (words != 0) {
          Products::widen(a + at, b + at, out, words);
          out += words * 4;
          at += words * 4;
        }
        for (std::int32_t left = s.rest; left > 0; --left, ++at) {
          Products::widen_one(a[at], b[at], rests, count++);
        }
        at = wrapping_add(at, s.step);
      }
      at = wrapping_add(at, s.row_step);
    }
  }

  /// Copies the inputs of a window of int8, the zero point where it lies in the padding.
  void copy(const Window& w, std::int8_t* to) const {
    const auto& p = args_.params;
    // A run of pixels side by side: a row of the window, or one pixel of it.
    const std::int32_t run = dense_ ? args_.filter_dims.w : 1;
    std::int32_t y = w.y;
    for (std::int32_t ky = 0; ky < args_.filter_dims.h; ++ky, y += p.dilation.h) {
      const bool in_image = y >= 0 && y < args_.input_dims.h;
      std::int32_t x = w.x;
      for (std::int32_t i = 0; i < segments_; ++i, x += p.dilation.w) {
        const std::int32_t end = x + run;
        const std::int32_t begin = in_image ? clamp(0, x, end) : end;
        const std::int32_t stop = clamp(args_.input_dims.w, begin, end);
        to = pad(to, begin - x);
        if (begin < stop) {
          to = append(to, pixel(y, begin),
                      (stop - begin) * (kGrouped ? args_.filter_dims.c : args_.input_dims.c));
        }
        to = pad(to, end - stop);
      }
    }
  }

  /// Puts the inputs of a window of int16 to where gather() would, with 0 where it lies in the padding. The other window's
  /// stay as they are, so that no copy has to be made first. `to` is the first input.
  [[gnu::noinline]] void spread(const Window& w, Element* to) const {
    const std::int32_t whole = segment_ / 4 * 4;
    const std::int32_t run = dense_ ? args_.filter_dims.w : 1;
    std::int32_t at = 0;
    std::int32_t rest = args_.filter_dims.h * segments_ * whole;
    std::int32_t y = w.y;
    for (std::int32_t ky = 0; ky < args_.filter_dims.h; ++ky, y += args_.params.dilation.h) {
      const bool in_image = y >= 0 && y < args_.input_dims.h;
      std::int32_t x = w.x;
      for (std::int32_t i = 0; i < segments_; ++i, x += args_.params.dilation.w) {
        const std::int32_t end = x + run;
        const std::int32_t begin = in_image ? clamp(0, x, end) : end;
        const std::int32_t stop = clamp(args_.input_dims.w, begin, end);
        // In elements of the segment.
        const std::int32_t first =
            (begin - x) * (kGrouped ? args_.filter_dims.c : args_.input_dims.c);
        const std::int32_t last =
            (stop - x) * (kGrouped ? args_.filter_dims.c : args_.input_dims.c);
        const Element* const from = begin < stop ? pixel(y, begin) : nullptr;
        place(to, at, whole, from, first, last, 0);
        at += whole;
        place(to, rest, segment_ - whole, from, first, last, whole);
        rest += segment_ - whole;
      }
    }
  }

  /// Puts `count` elements of a segment, from element `at` on, to input `input` and following. Elements `first` to `last`
  /// lie at `from`, the others are 0.
  static void place(Element* to, std::int32_t input, std::int32_t count, const Element* from,
                    std::int32_t first, std::int32_t last, std::int32_t at) {
    if ((input | count | first | last) % 2 == 0 && at == 0) {
      to += 2 * input;
      for (std::int32_t i = 0; i < count; i += 2, to += 4) {
        std::int32_t pair = 0;
        if (i >= first && i < last) {
          std::memcpy(&pair, from + (i - first), sizeof(pair));
        }
        std::memcpy(to, &pair, sizeof(pair));
      }
      return;
    }
    for (std::int32_t i = at; i < at + count; ++i, ++input) {
      to[2 * (input & ~1) + (input & 1)] =
          i >= first && i < last ? from[i - first] : static_cast<Element>(0);
    }
  }

  static std::int32_t clamp(std::int32_t value, std::int32_t least, std::int32_t most) {
    return value < least ? least : (value > most ? most : value);
  }

  /// Appends pixels of the zero point.
  std::int8_t* pad(std::int8_t* to, std::int32_t pixels) const {
    const auto zero_point = static_cast<std::int8_t>(-args_.params.input_offset);
    for (std::int32_t left = pixels * (kGrouped ? args_.filter_dims.c : args_.input_dims.c);
         left > 0; --left) {
      *to++ = zero_point;
    }
    return to;
  }

  /// Rows are short: calling memcpy would take longer than the copy.
  static std::int8_t* append(std::int8_t* to, const std::int8_t* from, std::int32_t count) {
    for (; count >= 4; count -= 4, to += 4, from += 4) {
      std::memcpy(to, from, 4);
    }
    for (; count > 0; --count) {
      *to++ = *from++;
    }
    return to;
  }

  const Args& args_;
  std::int32_t* widened_;
  std::int32_t pixel_size_;  // sizes are numbers of elements
  std::int32_t row_size_;
  std::int32_t stride_;    // along a row
  bool dense_;             // a row of a window is contiguous
  std::int32_t segment_;   // contiguous elements of a window
  std::int32_t segments_;  // in each row
  // From a row and from a segment of a window to the next one; 0 if there is a single one. They fit 32 bits if a
  // window lies inside of the image.
  std::int32_t row_step_;
  std::int32_t step_;
  std::int32_t inputs_;
  bool whole_words_;        // in all segments
  bool one_run_;            // windows are contiguous whole words
  PairSegments in_image_;   // unless windows are one run
  PairSegments in_copies_;  // if segments do not end with a word
  // The last positions of windows inside of the image, and where rows of windows end.
  std::int32_t last_y_;
  std::int32_t last_x_;
  std::int32_t end_x_;
  std::int32_t window_step_;  // elements from a window to the next one of its row
  // Where two windows of a row that lies inside of the image can both be read as they are: below this `x`, of which
  // those to the left of the image, less than 0, are not.
  std::uint32_t row_both_inside_;
  std::uint32_t both_inside_ = 0;  // the same for the row of the next window
  // Where the next window begins.
  const Element* image_ = nullptr;
  std::int32_t y_ = 0;
  std::int32_t x_ = 0;
  std::int32_t row_ = 0;  // from the image to its row
  bool row_inside_ = false;
};

/// Which calls a kernel computes: those of both forms of requantization, or of Form::ANY in
/// aot/cmsis_nn_delegate/providers/tuned/requantization.py alone, which links nothing of the other one.
enum class PairForms { kBoth, kAny };

template <typename Products, typename Element, typename Activation>
[[gnu::always_inline]] inline void set_limits(PairProductsOf<Element>& products,
                                              const Activation& limits) {
  products.least = repeated<Element>(limits.min);
  products.most = repeated<Element>(limits.max);
  if constexpr (LimitsAreOptional<Products>::value) {
    if (is_limited<Element>(limits) == 0) {
      std::swap(products.least, products.most);
    }
  }
}

/// Computes one call: the body of a kernel's function, which has no call more for it.
template <typename Products, typename Args, PairForms kForms = PairForms::kBoth>
[[gnu::always_inline]] inline Error compute_conv2d_pairs(const void* args, const Bases& bases) {
  using Element = typename Products::Element;
  const auto& a = *static_cast<const Args*>(args);
  const payload::PackedDims& out = a.output_dims;
  PairProductsOf<Element> products;
  auto* const widened = bases.resolve<std::int32_t>(a.scratch);
  products.inputs = widened;
  products.table = bases.resolve<const std::int32_t>(a.table);
  products.channels = out.c;
  set_limits<Products>(products, a.params.activation);
  products.output0 = bases.resolve<Element>(a.output);
  const auto* image = bases.resolve<const Element>(a.input);
  const std::int32_t windows = out.h * out.w;
  const auto multiply =
      kForms == PairForms::kBoth && a.form != 0 ? Products::multiply_floor : Products::multiply_any;
  PairWindows<Products, Args> pairs(a, widened);
  products.inputs_end = widened + pairs.depth();
  for (std::int32_t n = 0; n < out.n; ++n) {
    pairs.start(image);
    for (std::int32_t i = 0; i < windows; i += 2) {
      // A single last window is computed twice, to the same place.
      const bool two = i + 1 < windows;
      pairs.widen(two);
      products.output1 = products.output0 + (two ? out.c : 0);
      multiply(products);
      products.output0 = products.output1 + out.c;
    }
    image += a.input_dims.h * a.input_dims.w * a.input_dims.c;
  }
  return Error::Ok;
}

/// Computes one call of several groups, with any form of requantization, one group of an image after the other.
template <typename Products, typename Args>
[[gnu::always_inline]] inline Error compute_conv2d_grouped_pairs(const void* args,
                                                                 const Bases& bases) {
  using Element = typename Products::Element;
  const auto& a = *static_cast<const Args*>(args);
  const payload::PackedDims& in = a.input_dims;
  const payload::PackedDims& out = a.output_dims;
  PairProductsOf<Element> products;
  auto* const widened = bases.resolve<std::int32_t>(a.scratch);
  products.inputs = widened;
  set_limits<Products>(products, a.params.activation);
  const std::int32_t groups = in.c / a.filter_dims.c;
  products.channels = out.c / groups;
  const auto* const tables = bases.resolve<const std::int32_t>(a.table);
  const std::int32_t table_words = products.channels / 4 * a.block_words;
  const auto* image = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);
  const std::int32_t windows = out.h * out.w;
  const auto multiply = a.form != 0 ? Products::multiply_floor : Products::multiply_any;
  PairWindows<Products, Args, true> pairs(a, widened);
  products.inputs_end = widened + pairs.depth();
  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t group = 0; group < groups; ++group) {
      pairs.start(image + group * a.filter_dims.c);
      products.table = tables + group * table_words;
      products.output0 = output + group * products.channels;
      for (std::int32_t i = 0; i < windows; i += 2) {
        // A single last window is computed twice, to the same place.
        const bool two = i + 1 < windows;
        pairs.widen(two);
        products.output1 = products.output0 + (two ? out.c : 0);
        multiply(products);
        products.output0 = products.output1 + out.c;
      }
    }
    image += in.h * in.w * in.c;
    output += windows * out.c;
  }
  return Error::Ok;
}

/// Words of a block beside those of weights.
template <typename Args>
inline constexpr std::int32_t kPairBlockRest = 16;
template <>
inline constexpr std::int32_t kPairBlockRest<payload::Conv2dInt4PairsArgs> = 9;
template <>
inline constexpr std::int32_t kPairBlockRest<payload::Conv2dInt4WidePairsArgs> = 9;

/// Returns the scratch memory that one call needs, as Conv2dPairs.scratch_bytes in Python: copies are
/// only made of windows of int8 of several pixels, or that reach beyond the image. Blocks have a word for
/// each `kInputsPerWord` inputs of a window.
template <typename Args, std::uint32_t kInputsPerWord = 1>
std::uint32_t conv2d_pairs_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  const auto& p = a.params;
  const auto depth =
      static_cast<std::uint32_t>(a.block_words - kPairBlockRest<Args>) * kInputsPerWord;
  const bool in_place = a.filter_dims.h == 1 && a.filter_dims.w == 1 && p.padding.h == 0 &&
                        p.padding.w == 0 && (a.output_dims.h - 1) * p.stride.h < a.input_dims.h &&
                        (a.output_dims.w - 1) * p.stride.w < a.input_dims.w;
  return (4 * depth + (in_place ? 0 : 2 * depth) + 15) / 16 * 16;
}

/// The same for int16, which are spread over the place of the widened inputs.
template <typename Args, std::uint32_t kInputsPerWord = 1>
std::uint32_t conv2d_pairs_int16_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  return (4 * static_cast<std::uint32_t>(a.block_words - 16) * kInputsPerWord + 15) / 16 * 16;
}

/// Returns whether the table has as many words as the sizes ask for, in one group.
template <typename Args, PairForms kForms = PairForms::kBoth, std::uint32_t kInputsPerWord = 1>
bool conv2d_pairs_accepts(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  constexpr std::uint32_t kMostInputs = 1u << 26;
  const std::uint32_t inputs = bounds::volume(a.filter_dims.h, a.filter_dims.w, a.filter_dims.c);
  return (kForms == PairForms::kBoth || a.form == 0) && a.input_dims.c == a.filter_dims.c &&
         inputs <= kMostInputs &&
         static_cast<std::uint32_t>(a.block_words) ==
             (inputs + 7) / 8 * (8 / kInputsPerWord) +
                 static_cast<std::uint32_t>(kPairBlockRest<Args>) &&
         a.blocks == (a.output_dims.c + 3) / 4;
}

/// The same for several groups, of which each has whole blocks of channels.
template <typename Args>
bool conv2d_grouped_pairs_accepts(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  constexpr std::uint32_t kMostInputs = 1u << 26;
  const std::uint32_t inputs = bounds::volume(a.filter_dims.h, a.filter_dims.w, a.filter_dims.c);
  return in_groups_of<4>(a) && inputs <= kMostInputs &&
         static_cast<std::uint32_t>(a.block_words) ==
             (inputs + 7) / 8 * 8 + static_cast<std::uint32_t>(kPairBlockRest<Args>) &&
         a.blocks == a.output_dims.c / 4;
}

/// Returns the kernel whose `run` calls compute_conv2d_pairs().
template <PairForms kForms = PairForms::kBoth>
constexpr Kernel conv2d_pairs_kernel(Kernel::Run run) {
  return Kernel(operators::kConv2dPairs, run, conv2d_pairs_scratch_bytes<payload::Conv2dPairsArgs>)
      .limited_to(conv2d_pairs_accepts<payload::Conv2dPairsArgs, kForms>)
      .overlapping(overlaps_in_window_order<payload::Conv2dPairsArgs>)
      .only_of(payload::ProviderId::kTuned);
}

/// The same for weights of two channels in 16 bits.
constexpr Kernel conv2d_joint_pairs_kernel(Kernel::Run run) {
  using Args = payload::Conv2dJointPairsArgs;
  return Kernel(operators::kConv2dJointPairs, run, conv2d_pairs_scratch_bytes<Args>)
      .limited_to(conv2d_pairs_accepts<Args>)
      .overlapping(overlaps_in_window_order<Args>)
      .only_of(payload::ProviderId::kTuned);
}

/// The same for int16.
constexpr Kernel conv2d_pairs_int16_kernel(Kernel::Run run) {
  using Args = payload::Conv2dPairsInt16Args;
  return Kernel(operators::kConv2dPairsInt16, run, conv2d_pairs_int16_scratch_bytes<Args>)
      .limited_to(conv2d_pairs_accepts<Args>)
      .overlapping(overlaps_in_window_order<Args, std::int16_t>)
      .only_of(payload::ProviderId::kTuned);
}

/// The same for weights of 4 bits, of which a word of the table has those for two inputs.
constexpr Kernel conv2d_int4_pairs_kernel(Kernel::Run run) {
  using Args = payload::Conv2dInt4PairsArgs;
  return Kernel(operators::kConv2dInt4Pairs, run, conv2d_pairs_scratch_bytes<Args, 2>)
      .limited_to(conv2d_pairs_accepts<Args, PairForms::kBoth, 2>)
      .overlapping(overlaps_in_window_order<Args>)
      .only_of(payload::ProviderId::kTuned);
}

/// The same for wide sums.
constexpr Kernel conv2d_int4_wide_pairs_kernel(Kernel::Run run) {
  using Args = payload::Conv2dInt4WidePairsArgs;
  return Kernel(operators::kConv2dInt4WidePairs, run, conv2d_pairs_scratch_bytes<Args, 2>)
      .limited_to(conv2d_pairs_accepts<Args, PairForms::kBoth, 2>)
      .overlapping(overlaps_in_window_order<Args>)
      .only_of(payload::ProviderId::kTuned);
}

/// The same for int16 with weights of 4 bits.
constexpr Kernel conv2d_int4_pairs_int16_kernel(Kernel::Run run) {
  using Args = payload::Conv2dInt4PairsInt16Args;
  return Kernel(operators::kConv2dInt4PairsInt16, run, conv2d_pairs_int16_scratch_bytes<Args, 2>)
      .limited_to(conv2d_pairs_accepts<Args, PairForms::kBoth, 2>)
      .overlapping(overlaps_in_window_order<Args, std::int16_t>)
      .only_of(payload::ProviderId::kTuned);
}

/// The kernels whose `run` calls compute_conv2d_grouped_pairs(). Outputs lie apart from inputs, because later groups read
/// pixels of which earlier ones have written outputs.
constexpr Kernel conv2d_grouped_pairs_kernel(Kernel::Run run) {
  using Args = payload::Conv2dGroupedPairsArgs;
  return Kernel(operators::kConv2dGroupedPairs, run, conv2d_pairs_scratch_bytes<Args>)
      .limited_to(conv2d_grouped_pairs_accepts<Args>)
      .only_of(payload::ProviderId::kTuned);
}

constexpr Kernel conv2d_grouped_pairs_int16_kernel(Kernel::Run run) {
  using Args = payload::Conv2dGroupedPairsInt16Args;
  return Kernel(operators::kConv2dGroupedPairsInt16, run, conv2d_pairs_int16_scratch_bytes<Args>)
      .limited_to(conv2d_grouped_pairs_accepts<Args>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
