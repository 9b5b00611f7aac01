// Convolution as products of two windows with blocks of four filters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/portable/pair_products.h"
#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/portable/window_order.h"
#include "runtime/payload/bounds.h"

namespace cmsis_nn_delegate {
namespace portable {

/// The windows of one image. `Products` has the functions of PlainPairProducts.
template <typename Products>
class PairWindows {
 public:
  /// `args` is borrowed.
  PairWindows(const payload::Conv2dPairsArgs& args, const std::int8_t* image, std::int32_t* widened)
      : args_(args),
        image_(image),
        widened_(widened),
        row_bytes_(args.input_dims.w * args.input_dims.c),
        dense_(args.params.dilation.w == 1),
        segment_(dense_ ? args.filter_dims.w * args.input_dims.c : args.input_dims.c),
        segments_(dense_ ? 1 : args.filter_dims.w),
        inputs_(args.filter_dims.h * args.filter_dims.w * args.input_dims.c),
        one_segment_(segment_ == inputs_) {}

  /// Widens the inputs of the windows of outputs `first` and `second`, numbered row by row.
  void widen(std::int32_t first, std::int32_t second) const {
    const Window a = window(first);
    const Window b = window(second);
    if (a.inside && b.inside && (one_segment_ || segment_ % 4 == 0)) {
      read_in_place(a.begin, b.begin);
      return;
    }
    const std::int32_t bytes = (inputs_ + 3) / 4 * 4;
    auto* const copies = reinterpret_cast<std::int8_t*>(widened_) + depth() * 4;
    copy(a, copies);
    copy(b, copies + bytes);
    Products::widen(copies, copies + bytes, widened_, bytes / 4);
  }

  /// Inputs of a window, rounded up to what the inner loop takes at a time.
  std::int32_t depth() const { return (inputs_ + 7) / 8 * 8; }

 private:
  struct Window {
    const std::int8_t* begin;  // valid only if inside
    std::int32_t y;
    std::int32_t x;
    bool inside;
  };

  Window window(std::int32_t output) const {
    const payload::ConvParams& p = args_.params;
    const std::int32_t row = output / args_.output_dims.w;
    Window w;
    w.y = row * p.stride.h - p.padding.h;
    w.x = (output - row * args_.output_dims.w) * p.stride.w - p.padding.w;
    w.inside = w.y >= 0 && w.x >= 0 &&
               w.y + (args_.filter_dims.h - 1) * p.dilation.h < args_.input_dims.h &&
               w.x + (args_.filter_dims.w - 1) * p.dilation.w < args_.input_dims.w;
    w.begin = w.inside ? pixel(w.y, w.x) : nullptr;
    return w;
  }

  const std::int8_t* pixel(std::int32_t y, std::int32_t x) const {
    return image_ + y * row_bytes_ + x * args_.input_dims.c;
  }

  void read_in_place(const std::int8_t* a, const std::int8_t* b) const {
    std::int32_t* out = widened_;
    if (one_segment_) {
      const std::int32_t words = inputs_ / 4;
      if (words != 0) {
        Products::widen(a, b, out, words);
      }
      const auto rest = static_cast<std::size_t>(inputs_ % 4);
      if (rest != 0) {
        std::int8_t tail[2][4] = {};
        for (std::size_t i = 0; i < rest; ++i) {
          tail[0][i] = a[words * 4 + static_cast<std::int32_t>(i)];
          tail[1][i] = b[words * 4 + static_cast<std::int32_t>(i)];
        }
        Products::widen(tail[0], tail[1], out + words * 4, 1);
      }
      return;
    }
    const std::int32_t row_step = args_.params.dilation.h * row_bytes_;
    const std::int32_t step = args_.params.dilation.w * args_.input_dims.c;
    std::int32_t row = 0;
    for (std::int32_t y = 0; y < args_.filter_dims.h; ++y, row += row_step) {
      std::int32_t at = row;
      for (std::int32_t i = 0; i < segments_; ++i, at += step) {
        Products::widen(a + at, b + at, out, segment_ / 4);
        out += segment_;
      }
    }
  }

  /// Copies the inputs of a window, the zero point where it lies in the padding.
  void copy(const Window& w, std::int8_t* to) const {
    const payload::ConvParams& p = args_.params;
    const auto zero_point = static_cast<std::int8_t>(-p.input_offset);
    const std::int32_t c = args_.input_dims.c;
    std::int32_t y = w.y;
    for (std::int32_t ky = 0; ky < args_.filter_dims.h; ++ky, y += p.dilation.h) {
      const bool in_image = y >= 0 && y < args_.input_dims.h;
      if (w.inside && dense_) {
        to = append(to, pixel(y, w.x), segment_);
        continue;
      }
      std::int32_t x = w.x;
      for (std::int32_t kx = 0; kx < args_.filter_dims.w; ++kx, x += p.dilation.w) {
        if (in_image && x >= 0 && x < args_.input_dims.w) {
          to = append(to, pixel(y, x), c);
          continue;
        }
        for (std::int32_t i = 0; i < c; ++i) {
          *to++ = zero_point;
        }
      }
    }
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

  const payload::Conv2dPairsArgs& args_;
  const std::int8_t* image_;
  std::int32_t* widened_;
  std::int32_t row_bytes_;
  bool dense_;             // a row of a window is contiguous
  std::int32_t segment_;   // contiguous bytes of a window
  std::int32_t segments_;  // in each row
  std::int32_t inputs_;
  bool one_segment_;
};

/// Computes one call.
template <typename Products>
Error run_conv2d_pairs(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::Conv2dPairsArgs*>(args);
  const payload::Dims& out = a.output_dims;
  constexpr std::uint32_t kEveryByte = 0x01010101;
  PairProducts products;
  auto* const widened = bases.resolve<std::int32_t>(a.scratch);
  products.inputs = widened;
  products.table = bases.resolve<const std::int32_t>(a.table);
  products.channels = out.c;
  products.least = (static_cast<std::uint32_t>(a.params.activation.min) & 0xFF) * kEveryByte;
  products.most = (static_cast<std::uint32_t>(a.params.activation.max) & 0xFF) * kEveryByte;
  products.output0 = bases.resolve<std::int8_t>(a.output);
  const auto* image = bases.resolve<const std::int8_t>(a.input);
  const std::int32_t windows = out.h * out.w;
  const auto multiply = a.form != 0 ? Products::multiply_floor : Products::multiply_any;
  for (std::int32_t n = 0; n < out.n; ++n) {
    const PairWindows<Products> pairs(a, image, widened);
    products.inputs_end = widened + pairs.depth();
    for (std::int32_t i = 0; i < windows; i += 2) {
      // A single last window is computed twice, to the same place.
      const bool two = i + 1 < windows;
      pairs.widen(i, two ? i + 1 : i);
      products.output1 = products.output0 + (two ? out.c : 0);
      multiply(products);
      products.output0 = products.output1 + out.c;
    }
    image += a.input_dims.h * a.input_dims.w * a.input_dims.c;
  }
  return Error::Ok;
}

/// Returns the scratch memory that one call needs, as Conv2dPairs.scratch_bytes in Python: copies are
/// only made of windows of several pixels, or that reach beyond the image.
inline std::uint32_t conv2d_pairs_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::Conv2dPairsArgs*>(args);
  const auto& p = a.params;
  const auto depth = static_cast<std::uint32_t>(a.block_words - 16);
  const bool in_place = a.filter_dims.h == 1 && a.filter_dims.w == 1 && p.padding.h == 0 &&
                        p.padding.w == 0 && (a.output_dims.h - 1) * p.stride.h < a.input_dims.h &&
                        (a.output_dims.w - 1) * p.stride.w < a.input_dims.w;
  return (4 * depth + (in_place ? 0 : 2 * depth) + 15) / 16 * 16;
}

/// Returns whether the table has as many words as the sizes ask for, in one group.
inline bool conv2d_pairs_accepts(const void* args) {
  const auto& a = *static_cast<const payload::Conv2dPairsArgs*>(args);
  constexpr std::uint32_t kMostInputs = 1u << 26;
  const std::uint32_t inputs = bounds::volume(a.filter_dims.h, a.filter_dims.w, a.filter_dims.c);
  return a.input_dims.c == a.filter_dims.c && inputs <= kMostInputs &&
         static_cast<std::uint32_t>(a.block_words) == (inputs + 7) / 8 * 8 + 16 &&
         a.blocks == (a.output_dims.c + 3) / 4;
}

/// The kernel with the inner loops of `Products`.
template <typename Products>
constexpr Kernel conv2d_pairs_kernel() {
  return Kernel(operators::kConv2dPairs, run_conv2d_pairs<Products>, conv2d_pairs_scratch_bytes)
      .limited_to(conv2d_pairs_accepts)
      .overlapping(overlaps_in_window_order<payload::Conv2dPairsArgs>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
