#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/resize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

constexpr std::int32_t kPixelBytes = 2;
constexpr std::size_t kComponents = 3;
constexpr int kWeightBits = 10;
constexpr std::int32_t kWeightOne = 1 << kWeightBits;
constexpr int kComponentBits = 6;
constexpr std::int32_t kWhite = 255 << 14;

/// Red, green and blue, or Y, U and V, from 0 to 255.
using Pixel = std::array<std::int32_t, kComponents>;

/// Numbers of formats are even if the byte with the low bits, or with Y, comes first.
struct Format {
  explicit Format(std::int32_t number) : first(number & 1), yuv(number >= 2) {}

  std::int32_t first;  // where that byte is in a pixel
  bool yuv;
};

Pixel pixel_at(const std::uint8_t* row, std::int32_t column, Format format) {
  const std::int32_t second = 1 - format.first;
  const std::uint8_t* pixel = row + column * kPixelBytes;
  if (format.yuv) {
    const std::uint8_t* pair = row + (column & ~1) * kPixelBytes;
    return {pixel[format.first], pair[second], pair[kPixelBytes + second]};
  }
  const std::int32_t word = pixel[format.first] | pixel[second] << 8;
  const std::int32_t red = word >> 11;
  const std::int32_t green = (word >> 5) & 63;
  const std::int32_t blue = word & 31;
  return {red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2};
}

/// Two rows or columns of the frame, and the weight of the second out of kWeightOne.
struct Neighbours {
  std::int32_t near;
  std::int32_t far;
  std::int32_t weight;

  static Neighbours of(std::int32_t index, const payload::ResizeAxis& axis, std::int32_t first,
                       std::int32_t size) {
    const std::int32_t place = place_of<kWeightBits>(index, axis, size);
    const std::int32_t near = place >> kWeightBits;
    return {first + near, first + (near < size - 1 ? near + 1 : near), place & (kWeightOne - 1)};
  }
};

/// Components with kComponentBits behind the point. Sums of four have 28 bits.
Pixel interpolated(const std::uint8_t* above, const std::uint8_t* below, std::int32_t row_weight,
                   const Neighbours& columns, Format format) {
  constexpr int kDropped = 2 * kWeightBits - kComponentBits;
  const Pixel corners[] = {
      pixel_at(above, columns.near, format), pixel_at(above, columns.far, format),
      pixel_at(below, columns.near, format), pixel_at(below, columns.far, format)};
  const std::int32_t left = kWeightOne - columns.weight;
  Pixel found = {};
  for (std::size_t i = 0; i < kComponents; ++i) {
    const std::int32_t top = corners[0][i] * left + corners[1][i] * columns.weight;
    const std::int32_t bottom = corners[2][i] * left + corners[3][i] * columns.weight;
    const std::int32_t sum = top * (kWeightOne - row_weight) + bottom * row_weight;
    found[i] = (sum + (1 << (kDropped - 1))) >> kDropped;
  }
  return found;
}

/// What makes the channels of an image of components. Products of a coefficient of 16 bits and a component have less
/// than 30 bits, and so three of them 31.
struct Channels {
  Channels(const payload::CameraImageArgs& a, const Bases& bases)
      : matrix(bases.resolve<const std::int16_t>(a.matrix)),
        offsets(bases.resolve<const std::int32_t>(a.offsets)),
        bias(bases.resolve<const std::int32_t>(a.bias)),
        multiplier(bases.resolve<const std::int32_t>(a.multiplier)),
        shift(bases.resolve<const std::int32_t>(a.shift)),
        output_offset(a.output_offset),
        count(a.output_dims.c) {}

  std::int8_t* write(const Pixel& pixel, std::int8_t* output) const {
    constexpr payload::Activation kInt8 = {INT8_MIN, INT8_MAX};
    const std::int16_t* row = matrix;
    for (std::int32_t i = 0; i < count; ++i, row += kComponents) {
      std::int32_t sum =
          wrapping_add(row[0] * pixel[0] + row[1] * pixel[1] + row[2] * pixel[2], offsets[i]);
      sum = sum < 0 ? 0 : (sum > kWhite ? kWhite : sum);
      sum = requantize(wrapping_add(sum, bias[i]), multiplier[i], shift[i]);
      *output++ = clamp(wrapping_add(sum, output_offset), kInt8);
    }
    return output;
  }

  const std::int16_t* matrix;
  const std::int32_t* offsets;
  const std::int32_t* bias;
  const std::int32_t* multiplier;
  const std::int32_t* shift;
  std::int32_t output_offset;
  std::int32_t count;
};

}  // namespace

Error run_camera_image(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::CameraImageArgs*>(args);
  const Format format(a.format);
  const Channels channels(a, bases);
  const payload::Dims& out = a.output_dims;
  const auto row_bytes = static_cast<std::size_t>(a.frame_dims.w) * kPixelBytes;
  const auto* frame = bases.resolve<const std::uint8_t>(a.frame);
  auto* output = bases.resolve<std::int8_t>(a.output);

  const auto row_at = [&](std::int32_t row) {
    return frame + static_cast<std::size_t>(row) * row_bytes;
  };
  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      if (a.bilinear != 0) {
        const Neighbours rows = Neighbours::of(y, a.rows, a.crop.top, a.crop.h);
        const std::uint8_t* above = row_at(rows.near);
        const std::uint8_t* below = row_at(rows.far);
        for (std::int32_t x = 0; x < out.w; ++x) {
          const Neighbours columns = Neighbours::of(x, a.columns, a.crop.left, a.crop.w);
          output = channels.write(interpolated(above, below, rows.weight, columns, format), output);
        }
      } else {
        const std::uint8_t* row = row_at(a.crop.top + place_of<0>(y, a.rows, a.crop.h));
        for (std::int32_t x = 0; x < out.w; ++x) {
          Pixel pixel = pixel_at(row, a.crop.left + place_of<0>(x, a.columns, a.crop.w), format);
          for (std::int32_t& component : pixel) {
            component <<= kComponentBits;
          }
          output = channels.write(pixel, output);
        }
      }
    }
    frame += static_cast<std::size_t>(a.frame_dims.h) * row_bytes;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kCameraImage> kCameraImage =
    Kernel(operators::kCameraImage, run_camera_image);

}  // namespace cmsis_nn_delegate::portable
