// Convolution of 3 x 3 taps and stride 1 by Winograd's algorithm, two tiles of 2 x 2 outputs at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "runtime/kernels/conv2d/winograd.h"
#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/bounds.h"

namespace cmsis_nn_delegate::portable {

namespace winograd {

/// Inputs of a pixel, rounded up to what the inner loop takes at a time.
inline std::int32_t depth(const payload::Conv2dWinogradArgs& a) {
  return (a.input_dims.c + kDepth - 1) / kDepth * kDepth;
}

}  // namespace winograd

/// Computes images. `Lanes` has the functions of PlainWinogradLanes.
template <typename Lanes>
class WinogradTiles {
 public:
  /// `args` is borrowed. `scratch` holds the transformed inputs, the products, and a copy of the inputs of two tiles
  /// where these reach beyond the image or have another number of channels.
  WinogradTiles(const payload::Conv2dWinogradArgs& args, std::int32_t* scratch)
      : args_(args),
        depth_(winograd::depth(args)),
        transformed_(scratch),
        products_(scratch + winograd::kPositions * depth_),
        copy_(reinterpret_cast<std::int8_t*>(products_ + winograd::kProducts)),
        row_bytes_(args.input_dims.w * args.input_dims.c) {
    const payload::PackedDims& out = args.output_dims;
    to_.row_bytes = out.w * out.c;
    to_.pixel_bytes = out.c;
    to_.least = args.params.activation.min;
    to_.most = args.params.activation.max;
    // Of channels that the image does not have, the weights are 0.
    std::memset(copy_, 0, static_cast<std::size_t>(winograd::kRows * winograd::kColumns * depth_));
  }

  void run(const std::int8_t* image, std::int8_t* output, const std::int32_t* table) {
    const payload::PackedDims& out = args_.output_dims;
    for (std::int32_t y = 0; y < out.h; y += winograd::kOutputRows) {
      to_.rows = out.h - y < winograd::kOutputRows ? 1 : winograd::kOutputRows;
      for (std::int32_t x = 0; x < out.w; x += winograd::kOutputColumns) {
        to_.columns = out.w - x < winograd::kOutputColumns ? out.w - x : winograd::kOutputColumns;
        transform(image, y - args_.params.padding.h, x - args_.params.padding.w);
        filter(output + y * to_.row_bytes + x * to_.pixel_bytes, table);
      }
    }
  }

 private:
  /// Transforms the inputs from row `y` and column `x` on.
  void transform(const std::int8_t* image, std::int32_t y, std::int32_t x) {
    const payload::PackedDims& in = args_.input_dims;
    const bool inside = y >= 0 && x >= 0 && y + winograd::kRows <= in.h &&
                        x + winograd::kColumns <= in.w && in.c == depth_;
    if (inside) {
      winograd::transform<Lanes>(image + y * row_bytes_ + x * in.c, row_bytes_, depth_,
                                 transformed_);
      return;
    }
    const std::int32_t zero_point = -args_.params.input_offset;
    const auto bytes = static_cast<std::size_t>(in.c);
    std::int8_t* to = copy_;
    for (std::int32_t row = y; row < y + winograd::kRows; ++row) {
      for (std::int32_t column = x; column < x + winograd::kColumns; ++column, to += depth_) {
        if (row >= 0 && row < in.h && column >= 0 && column < in.w) {
          std::memcpy(to, image + row * row_bytes_ + column * in.c, bytes);
        } else {
          std::memset(to, zero_point, bytes);
        }
      }
    }
    winograd::transform<Lanes>(copy_, winograd::kColumns * depth_, depth_, transformed_);
  }

  /// Computes all channels of the outputs of two tiles.
  void filter(std::int8_t* output, const std::int32_t* table) {
    const std::int32_t channels = args_.output_dims.c;
    const std::int32_t weights = winograd::kPositions * winograd::kBlock * depth_ / 2;
    for (std::int32_t c = 0; c < channels; c += winograd::kBlock, table += args_.block_words) {
      to_.first = output + c;
      to_.channels = channels - c < winograd::kBlock ? channels - c : winograd::kBlock;
      Lanes::multiply(transformed_, table, products_, depth_);
      args_.form != 0 ? winograd::finish<Lanes, true>(products_, table + weights, to_)
                      : winograd::finish<Lanes, false>(products_, table + weights, to_);
    }
  }

  const payload::Conv2dWinogradArgs& args_;
  std::int32_t depth_;
  std::int32_t* transformed_;
  std::int32_t* products_;
  std::int8_t* copy_;
  std::int32_t row_bytes_;
  winograd::Outputs to_{};
};

/// Computes one call: the body of a kernel's function, which has no call more for it.
template <typename Lanes>
[[gnu::always_inline]] inline Error compute_conv2d_winograd(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::Conv2dWinogradArgs*>(args);
  const auto* image = bases.resolve<const std::int8_t>(a.input);
  auto* output = bases.resolve<std::int8_t>(a.output);
  const auto* table = bases.resolve<const std::int32_t>(a.table);
  WinogradTiles<Lanes> tiles(a, bases.resolve<std::int32_t>(a.scratch));
  for (std::int32_t n = 0; n < a.output_dims.n; ++n) {
    tiles.run(image, output, table);
    image += a.input_dims.h * a.input_dims.w * a.input_dims.c;
    output += a.output_dims.h * a.output_dims.w * a.output_dims.c;
  }
  return Error::Ok;
}

/// Returns the scratch memory that one call needs, as Conv2dWinograd.scratch_bytes in Python.
inline std::uint32_t conv2d_winograd_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::Conv2dWinogradArgs*>(args);
  const auto depth = static_cast<std::uint32_t>(winograd::depth(a));
  return depth * (4 * winograd::kPositions + winograd::kRows * winograd::kColumns) +
         4 * winograd::kProducts;
}

/// Returns whether the call is one for this kernel, and its table has as many words as the sizes ask for.
inline bool conv2d_winograd_accepts(const void* args) {
  const auto& a = *static_cast<const payload::Conv2dWinogradArgs*>(args);
  const payload::PackedConvParams& p = a.params;
  static_assert(std::numeric_limits<decltype(a.input_dims.c)>::max() <= 1 << 20,
                "the sizes of scratch memory and table fit");
  return a.input_dims.c == a.filter_dims.c && a.filter_dims.h == 3 && a.filter_dims.w == 3 &&
         p.stride.h == 1 && p.stride.w == 1 && p.dilation.h == 1 && p.dilation.w == 1 &&
         p.padding.h <= 1 && p.padding.w <= 1 &&
         a.block_words == winograd::depth(a) * (winograd::kPositions * winograd::kBlock / 2) +
                              winograd::kBlock * winograd::kScales &&
         a.blocks == (a.output_dims.c + winograd::kBlock - 1) / winograd::kBlock;
}

/// Returns whether the output may start `distance` bytes before the input. Before a row of tiles is written, the rows of
/// the image below its first one are still to be read. See conv2d_winograd.py.
inline bool conv2d_winograd_overlaps(const void* args, std::int32_t distance) {
  const auto& a = *static_cast<const payload::Conv2dWinogradArgs*>(args);
  const payload::PackedDims& in = a.input_dims;
  const payload::PackedDims& out = a.output_dims;
  const std::int32_t last = (out.h - 1) / winograd::kOutputRows * winograd::kOutputRows;
  std::int32_t most = 0;
  const std::int32_t rows[] = {0, 2, last - 2, last};
  for (const std::int32_t row : rows) {
    const std::int32_t y = row < 0 ? 0 : row < last ? row : last;
    const std::int32_t end = y + winograd::kOutputRows < out.h ? y + winograd::kOutputRows : out.h;
    const std::int32_t read = y > a.params.padding.h ? y - a.params.padding.h : 0;
    const std::int32_t first = read < in.h ? read : in.h;
    const std::int32_t ahead = end * out.w * out.c - first * in.w * in.c;
    most = ahead > most ? ahead : most;
  }
  const std::int32_t growth = out.h * out.w * out.c - in.h * in.w * in.c;
  return distance >= most + (growth > 0 ? growth * (out.n - 1) : 0);
}

/// Returns the kernel whose `run` calls compute_conv2d_winograd().
constexpr Kernel conv2d_winograd_kernel(Kernel::Run run) {
  return Kernel(operators::kConv2dWinograd, run, conv2d_winograd_scratch_bytes)
      .limited_to(conv2d_winograd_accepts)
      .overlapping(conv2d_winograd_overlaps)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
