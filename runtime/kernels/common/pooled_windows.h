// Pooling of several channels at a time: what the kernels of pooling have in common around their inner loops in
// assembly.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/window.h"
#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::portable {

/// With DSP four channels are computed at a time, the last ones together with some before them.
inline constexpr std::int32_t kLeastPooledChannels = 4;

/// Windows of one size: `down` >= 1 rows of `across` >= 1 each.
///
/// A window has `rows` >= 1 rows of `columns` >= 1 pixels of `pixel` >= 4 bytes each. Steps are numbers of bytes, and
/// may be negative.
struct PooledWindows {
  const std::int8_t* input;  // the first pixel of the first window
  std::int8_t* output;       // its result; those of a row of windows lie together
  std::int32_t down;
  std::int32_t across;
  // From behind the last window of a row, or its result, to the first one of the next row.
  std::int32_t input_next;
  std::int32_t output_next;
  std::int32_t step;  // from a window to the next one of its row
  std::int32_t rows;
  std::int32_t columns;
  std::int32_t row_gap;   // from behind the last pixel of a row of a window to its next row
  std::int32_t next_row;  // from that pixel itself
  std::int32_t pixel;
  // The limits of results, as many times as they fit into a word.
  std::uint32_t least;
  std::uint32_t most;
  std::int32_t limited;     // 0: they are those of the elements
  std::int32_t reciprocal;  // of `rows` * `columns`, where the results are means
};

/// Returns where the word with byte `first` of a pixel begins: before it, if the pixel has fewer than four from there
/// on.
inline std::int32_t word_at(const PooledWindows& windows, std::int32_t first) {
  return first + 4 <= windows.pixel ? first : windows.pixel - 4;
}

/// Sets what limits the results.
template <typename Element, typename Activation>
[[gnu::always_inline]] inline void set_limits(PooledWindows& windows, const Activation& limits) {
  windows.least = repeated<Element>(limits.min);
  windows.most = repeated<Element>(limits.max);
  windows.limited = is_limited<Element>(limits);
}

/// One axis of the windows of a call.
struct PooledAxis {
  std::int32_t input;
  std::int32_t output;
  std::int32_t taps;
  std::int32_t stride;
  std::int32_t padding;

  /// Returns from which window on none ends inside of the image.
  std::int32_t end() const {
    const std::int32_t room = input + padding - taps;
    const std::int32_t whole = room < 0 ? 0 : room / stride + 1;
    return whole < output ? whole : output;
  }
  Taps at(std::int32_t window) const { return Taps::of(window, stride, padding, 1, taps, input); }
};

/// Calls pool(PooledWindows&) for all windows of a call: once for all those that lie entirely inside of the image,
/// and for the others once for each place where they are cut off. pool() sets the reciprocal, if it needs it. `Args`
/// is the argument block of a kernel for elements of type Element; its geometry says that each window has a pixel of
/// the image.
template <typename Element, typename Args, typename Pool>
[[gnu::always_inline]] inline void pool_windows(const Args& a, const Bases& bases, Pool pool) {
  // Of strides of a single window, which may be so large that the step overflows; nothing reads behind it.
  const auto wrapping_product = [](std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
  };
  const auto& p = a.params;
  const payload::Dims& in = a.input_dims;
  const payload::Dims& out = a.output_dims;
  const PooledAxis rows = {in.h, out.h, a.filter_dims.h, p.stride.h, p.padding.h};
  const PooledAxis columns = {in.w, out.w, a.filter_dims.w, p.stride.w, p.padding.w};
  const std::int32_t rows_end = rows.end();
  const std::int32_t columns_end = columns.end();
  const std::int32_t pixel = in.c * static_cast<std::int32_t>(sizeof(Element));
  const std::int32_t row_bytes = in.w * pixel;
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  auto* output = bases.resolve<std::int8_t>(a.output);
  PooledWindows windows;
  windows.step = wrapping_product(p.stride.w, pixel);
  windows.pixel = pixel;
  const std::int32_t down_step = wrapping_product(p.stride.h, row_bytes);
  set_limits<Element>(windows, p.activation);
  for (std::int32_t n = 0; n < out.n; ++n) {
    std::int32_t down = 0;
    for (std::int32_t y = 0; y < out.h; y += down) {
      const Taps ty = rows.at(y);
      windows.rows = ty.end - ty.begin;
      down = windows.rows == rows.taps ? rows_end - y : 1;
      std::int32_t across = 0;
      for (std::int32_t x = 0; x < out.w; x += across) {
        const Taps tx = columns.at(x);
        windows.columns = tx.end - tx.begin;
        across = windows.columns == columns.taps ? columns_end - x : 1;
        windows.input = input + (ty.origin + ty.begin) * row_bytes + (tx.origin + tx.begin) * pixel;
        windows.output = output + (y * out.w + x) * pixel;
        windows.down = down;
        windows.across = across;
        windows.input_next = wrapping_sub(down_step, wrapping_product(across, windows.step));
        windows.output_next = (out.w - across) * pixel;
        windows.next_row = row_bytes - (windows.columns - 1) * pixel;
        windows.row_gap = windows.next_row - pixel;
        pool(windows);
      }
    }
    input += in.h * row_bytes;
    output += out.h * out.w * pixel;
  }
}

/// Returns whether there is one window, which is the whole image.
template <typename Args>
bool is_whole(const Args& a) {
  return a.output_dims.h == 1 && a.output_dims.w == 1 && a.filter_dims.h == a.input_dims.h &&
         a.filter_dims.w == a.input_dims.w && a.params.padding.h == 0 && a.params.padding.w == 0;
}

/// The same for calls of which is_whole() is true: the windows of all images, each as a single row.
template <typename Element, typename Args, typename Pool>
[[gnu::always_inline]] inline void pool_whole(const Args& a, const Bases& bases, Pool pool) {
  PooledWindows windows;
  windows.input = bases.resolve<const std::int8_t>(a.input);
  windows.output = bases.resolve<std::int8_t>(a.output);
  windows.down = a.output_dims.n;
  windows.across = 1;
  windows.pixel = a.input_dims.c * static_cast<std::int32_t>(sizeof(Element));
  windows.rows = 1;
  windows.columns = a.input_dims.h * a.input_dims.w;
  windows.step = windows.columns * windows.pixel;
  windows.input_next = 0;
  windows.output_next = 0;
  windows.row_gap = 0;
  windows.next_row = windows.pixel;
  set_limits<Element>(windows, a.params.activation);
  pool(windows);
}

}  // namespace cmsis_nn_delegate::portable
