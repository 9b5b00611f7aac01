// The checks of how the sizes of a call fit together, compared with the same rules in arithmetic that cannot overflow,
// for sizes at and around their limits. Payloads seldom have room for such sizes.
#include "runtime/payload/geometry.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <limits>
#include <new>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace cmsis_nn_delegate {
namespace {

using payload::Dims;
using payload::kMaxDim;
using payload::kMaxProducts;
using payload::kMaxResized;
using payload::Tile;

using Wide = __int128;
constexpr std::int32_t kMost = payload::kMaxRefOffset;
constexpr int kDraws = 25000;

bool in(Wide value, Wide low, Wide high) { return low <= value && value <= high; }

/// Draws sizes that fit together, and then moves some to a limit or by a little.
class Draw {
 public:
  std::int32_t in(std::int32_t low, std::int32_t high) {
    return std::uniform_int_distribution<std::int32_t>(low, high)(random_);
  }
  bool one_in(int count) { return in(1, count) == 1; }

  /// Mostly small; sometimes a power of two, so that products meet their limits exactly.
  std::int32_t size() { return one_in(8) ? 1 << in(0, 28) : in(1, one_in(4) ? 40 : 5); }

  void disturb(const std::vector<std::int32_t*>& fields) {
    for (int count = in(0, 2); count != 0; --count) {
      std::int32_t& field =
          *fields[static_cast<std::size_t>(in(0, static_cast<int>(fields.size()) - 1))];
      if (one_in(2)) {
        field = static_cast<std::int32_t>(static_cast<std::uint32_t>(field) +
                                          static_cast<std::uint32_t>(in(-2, 2)));
      } else {
        constexpr std::int32_t kLimits[] = {0,       1,       1 << 13, 1 << 14, 1 << 15,
                                            1 << 20, 1 << 27, 1 << 28, 1 << 29};
        field = kLimits[in(0, 8)] + in(-2, 1);
        if (one_in(8)) {
          field = one_in(2) ? std::numeric_limits<std::int32_t>::min()
                            : std::numeric_limits<std::int32_t>::max();
        }
      }
    }
  }

 private:
  std::mt19937 random_{1};
};

class Geometry : public ::testing::Test {
 protected:
  /// Compares a check with its rule, for sizes that `draw` sets; both answers must occur often.
  template <typename DrawSizes, typename Check, typename Rule>
  void compare(const DrawSizes& draw, const Check& check, const Rule& rule, int draws = kDraws) {
    int accepted = 0;
    for (int i = 0; i < draws; ++i) {
      draw();
      const bool expected = rule();
      ASSERT_EQ(check(), expected) << "draw " << i;
      accepted += expected ? 1 : 0;
    }
    EXPECT_GT(accepted, draws / 20);
    EXPECT_LT(accepted, draws - draws / 20);
  }

  const payload::Header header_ = {};
  const bounds::Regions regions_{header_, nullptr};
  const CallCheck call_{nullptr, regions_};  // without a log, it looks at no call
  Draw draw_;
};

std::vector<std::int32_t*> fields(Dims& d) { return {&d.n, &d.h, &d.w, &d.c}; }
std::vector<std::int32_t*> fields(Tile& t) { return {&t.h, &t.w}; }
template <typename First, typename... Rest>
std::vector<std::int32_t*> fields(First& first, Rest&... rest) {
  auto all = fields(first);
  const auto others = fields(rest...);
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

/// Sizes are in [1, kMaxDim + 1], as geometry.cc says.
bool is_size(std::int32_t size) { return in(size, 1, Wide{kMaxDim} + 1); }
bool are_sizes(const Dims& d) {
  return is_size(d.n) && is_size(d.h) && is_size(d.w) && is_size(d.c);
}

enum class Windows { kAny, kOverlap };

bool axis_fits(Wide in_size, Wide taps, Wide out, Wide stride, Wide padding, Wide dilation,
               Windows windows) {
  for (const Wide size : {in_size, taps, out, stride, dilation}) {
    if (!in(size, 1, Wide{kMaxDim} + 1)) {
      return false;
    }
  }
  if (!in(padding, 0, kMaxDim) || (taps - 1) * dilation > kMaxDim || out * stride > kMaxDim) {
    return false;
  }
  const Wide extent = (taps - 1) * dilation + 1;
  const Wide first = -padding;
  const Wide last = first + (out - 1) * stride;
  // The window after the last one must not end inside of the input.
  if (last + stride + extent <= in_size) {
    return false;
  }
  return windows == Windows::kAny || (first + extent > 0 && last < in_size);
}

class GeometryOfWindows : public Geometry {
 protected:
  void draw_axis(std::int32_t& in_size, std::int32_t& taps, std::int32_t& out, std::int32_t& stride,
                 std::int32_t& padding, std::int32_t& dilation) {
    taps = draw_.size();
    dilation = draw_.one_in(2) ? 1 : draw_.size();
    stride = draw_.size();
    in_size = draw_.size();
    padding = draw_.in(0, 3);
    const Wide extent = Wide{taps - 1} * dilation + 1;
    const Wide room = Wide{in_size} + padding - extent;
    const Wide least = room < 0 ? 1 : room / stride + 1;
    out = static_cast<std::int32_t>(least > kMaxDim ? 1 : least) + draw_.in(0, 1);
    if (draw_.one_in(32)) {  // two of 14 bits, whose product is the first that is too large
      stride = out = 1 << 14;
    }
  }
  void draw_sizes() {
    draw_axis(in_.h, filter_.h, out_.h, stride_.h, padding_.h, dilation_.h);
    draw_axis(in_.w, filter_.w, out_.w, stride_.w, padding_.w, dilation_.w);
    in_.n = out_.n = draw_.size();
    const std::int32_t groups = draw_.in(1, 3);
    filter_.c = draw_.in(1, 4);
    in_.c = filter_.c * groups;
    filter_.n = out_.c = draw_.in(1, 4) * groups;
  }
  void draw_and_disturb() {
    draw_sizes();
    draw_.disturb(fields(in_, filter_, out_, stride_, padding_, dilation_));
  }
  bool windows_fit(Windows windows, const Tile& dilation) const {
    for (const std::int32_t size : {in_.n, in_.c, filter_.n, filter_.c, out_.n, out_.c}) {
      if (!is_size(size)) {
        return false;
      }
    }
    return in_.n == out_.n &&
           axis_fits(in_.h, filter_.h, out_.h, stride_.h, padding_.h, dilation.h, windows) &&
           axis_fits(in_.w, filter_.w, out_.w, stride_.w, padding_.w, dilation.w, windows);
  }
  bool channels_agree() const {
    return in_.c % filter_.c == 0 && out_.c % (in_.c / filter_.c) == 0 && filter_.n == out_.c;
  }
  payload::ConvParams params() const {
    payload::ConvParams params = {};
    params.stride = stride_;
    params.padding = padding_;
    params.dilation = dilation_;
    return params;
  }

  Dims in_ = {}, filter_ = {}, out_ = {};
  Tile stride_ = {}, padding_ = {}, dilation_ = {};
};

TEST_F(GeometryOfWindows, Convolution) {
  compare([&] { draw_and_disturb(); },
          [&] { return geometry::convolution(call_, params(), in_, filter_, out_); },
          [&] { return windows_fit(Windows::kAny, dilation_) && channels_agree(); });
}

TEST_F(GeometryOfWindows, OfSixteenBits) {
  const auto packed = [](const Dims& d) {
    const auto narrow = [](std::int32_t size) { return static_cast<std::uint16_t>(size); };
    return payload::PackedDims{narrow(d.n), narrow(d.h), narrow(d.w), narrow(d.c)};
  };
  const auto draw = [&] {
    draw_and_disturb();
    for (std::int32_t* field : fields(in_, filter_, out_, stride_, padding_, dilation_)) {
      *field &= 0xFFFF;
    }
  };
  compare(
      draw,
      [&] {
        const auto tile = [](const Tile& t) {
          return payload::PackedTile{static_cast<std::uint16_t>(t.w),
                                     static_cast<std::uint16_t>(t.h)};
        };
        payload::PackedConvParams params = {};
        params.stride = tile(stride_);
        params.padding = tile(padding_);
        params.dilation = tile(dilation_);
        return geometry::convolution(call_, params, packed(in_), packed(filter_), packed(out_));
      },
      [&] { return windows_fit(Windows::kAny, dilation_) && channels_agree(); });
  payload::DepthwiseConv2dArgs args = {};
  compare(
      [&] {
        args.params.ch_mult = draw_.in(1, 3);
        draw_sizes();
        filter_.n = 1;
        out_.c = filter_.c = in_.c * args.params.ch_mult;
        draw_.disturb(fields(in_, filter_, out_, stride_, padding_, dilation_));
        for (std::int32_t* field : fields(in_, filter_, out_, stride_, padding_, dilation_)) {
          *field &= 0xFFFF;
        }
      },
      [&] {
        const auto set = [](auto& to, const Tile& t) {
          to.w = static_cast<std::uint16_t>(t.w);
          to.h = static_cast<std::uint16_t>(t.h);
        };
        set(args.params.stride, stride_);
        set(args.params.padding, padding_);
        set(args.params.dilation, dilation_);
        args.input_dims = packed(in_);
        args.filter_dims = packed(filter_);
        args.output_dims = packed(out_);
        return geometry::depthwise_convolution(call_, args);
      },
      [&] {
        return windows_fit(Windows::kAny, dilation_) && filter_.n == 1 && filter_.c == out_.c &&
               Wide{args.params.ch_mult} * in_.c == out_.c;
      });
}

TEST_F(GeometryOfWindows, Pooling) {
  payload::MaxPool2dDilatedArgs args = {};
  const auto draw = [&] {
    draw_sizes();
    filter_.n = filter_.c = 1;
    out_.c = in_.c;
    draw_.disturb(fields(in_, filter_, out_, stride_, padding_, dilation_));
    args.params.stride = stride_;
    args.params.padding = padding_;
    args.input_dims = in_;
    args.filter_dims = filter_;
    args.output_dims = out_;
    args.dilation = dilation_;
  };
  compare(
      draw, [&] { return geometry::pooling(call_, args.params, in_, filter_, out_); },
      [&] { return windows_fit(Windows::kOverlap, {1, 1}) && in_.c == out_.c; });
  compare(
      draw, [&] { return geometry::dilated_pooling(call_, args); },
      [&] { return windows_fit(Windows::kAny, dilation_) && in_.c == out_.c; });
}

TEST_F(GeometryOfWindows, TransposedConvolution) {
  compare([&] { draw_and_disturb(); },
          [&] { return geometry::transposed_convolution(call_, params(), in_, filter_, out_); },
          [&] {
            for (const std::int32_t size : {stride_.h, stride_.w, dilation_.h, dilation_.w}) {
              if (!is_size(size)) {
                return false;
              }
            }
            const auto sums = [](Wide size, Wide taps, Wide stride, Wide dilation) {
              return size * stride <= kMaxDim && (taps - 1) * dilation <= kMaxDim;
            };
            return are_sizes(in_) && are_sizes(filter_) && are_sizes(out_) &&
                   in(padding_.h, 0, kMaxDim) && in(padding_.w, 0, kMaxDim) &&
                   sums(in_.h, filter_.h, stride_.h, dilation_.h) &&
                   sums(in_.w, filter_.w, stride_.w, dilation_.w) && in_.n == out_.n &&
                   channels_agree();
          });
}

TEST_F(Geometry, Held) {
  std::int32_t nbytes = 0;
  std::int32_t initial_bytes = 0;
  compare(
      [&] {
        nbytes = draw_.size();
        initial_bytes = draw_.one_in(3) ? nbytes : draw_.in(0, 4);
        draw_.disturb({&nbytes, &initial_bytes});
      },
      [&] { return geometry::held(call_, nbytes, initial_bytes); },
      [&] {
        return initial_bytes == nbytes || initial_bytes == 1 ||
               (initial_bytes == 2 && nbytes % 2 == 0);
      });
}

TEST_F(Geometry, DelayLine) {
  payload::DelayLineReadArgs args = {};
  const auto draw = [&] {
    args.rows = draw_.size();
    args.row_bytes = draw_.one_in(4) ? draw_.size() : draw_.in(draw_.one_in(8) ? 0 : 1, 40);
    const Wide whole = Wide{args.rows} * args.row_bytes;
    const auto bytes = static_cast<std::int32_t>(std::min<Wide>(whole, kMost));
    args.state_bytes = bytes + 4;
    args.initial_bytes = draw_.one_in(2) ? bytes : draw_.in(1, 2);
    args.first = draw_.in(0, args.rows - 1);
    args.step = draw_.one_in(2) ? 1 : draw_.in(1, args.rows);
    args.count = draw_.in(1, (args.rows - 1 - args.first) / args.step + 1);
    draw_.disturb({&args.rows, &args.row_bytes, &args.state_bytes, &args.initial_bytes, &args.first,
                   &args.step, &args.count});
  };
  const auto is_line = [&] {
    const bool repeats = (args.initial_bytes == 1 || args.initial_bytes == 2) &&
                         args.row_bytes % args.initial_bytes == 0;
    return args.rows >= 1 && args.row_bytes >= 1 &&
           Wide{args.rows} * args.row_bytes + 4 == args.state_bytes &&
           (args.initial_bytes == Wide{args.state_bytes} - 4 || repeats) &&
           in(args.count, 1, args.rows);
  };
  compare(
      draw, [&] { return geometry::delay_line(call_, args); },
      [&] {
        return is_line() && args.first >= 0 && in(args.step, 1, args.rows) &&
               args.first + (Wide{args.count} - 1) * args.step < args.rows;
      });
  compare(
      draw,
      [&] {
        return geometry::delay_line(call_, args.state_bytes, args.initial_bytes, args.rows,
                                    args.row_bytes, args.count);
      },
      is_line);
}

TEST_F(Geometry, Volume) {
  Dims d = {};
  Wide elements = 0;
  compare(
      [&] {
        // Often two large factors, whose product has a bit beyond 32 and others below.
        const auto factor = [&] {
          return draw_.one_in(3) ? 65536 + draw_.in(-2, 2) : draw_.size();
        };
        d = {factor(), factor(), factor(), factor()};
        if (draw_.one_in(2)) {
          (draw_.one_in(2) ? d.n : d.h) = (draw_.one_in(2) ? d.w : d.c) = 1;
        }
        elements = Wide{d.n} * d.h * d.w * d.c;
      },
      [&] {
        const std::uint32_t volume = bounds::volume(d);
        EXPECT_EQ(volume,
                  elements > kMost ? bounds::kTooLarge : static_cast<std::uint32_t>(elements));
        return volume != bounds::kTooLarge;
      },
      [&] { return elements <= kMost; });
}

/// A payload has 3 tensors without room in the arena, a state, copied constants and 8 regions: all of the bases.
class MemoryOfAPayload : public testing::Test {
 protected:
  static constexpr unsigned kTensors = 3;
  static constexpr unsigned kRegions = payload::kMaxIo - kTensors - 2;
  static constexpr unsigned kState = payload::kBaseIo + kTensors;
  static constexpr unsigned kCopies = kState + 1;
  static constexpr std::uint32_t kBytes = 256;
  static constexpr std::uint32_t kConstantsOffset = 64;

  MemoryOfAPayload() : regions_(header(), tensors().tensors) {}

  static payload::Ref ref(unsigned base, std::uint32_t offset) {
    return base << payload::kRefOffsetBits | offset;
  }

  struct Tensors {
    payload::IoTensor tensors[kTensors];
    std::uint32_t region_bytes[kRegions];
  };
  static payload::Header header() {
    payload::Header header = {};
    header.input_count = 2;
    header.output_count = 1;
    header.arena_bytes = header.persistent_bytes = header.copied_bytes = kBytes;
    header.constants_offset = kConstantsOffset;
    header.constants_bytes = kBytes;
    header.region_count = kRegions;
    return header;
  }
  static const Tensors& tensors() {
    static const Tensors all = [] {
      Tensors tensors = {};
      for (payload::IoTensor& tensor : tensors.tensors) {
        tensor.nbytes = kBytes;
        tensor.arena_offset = payload::kNoArenaOffset;
      }
      std::fill(std::begin(tensors.region_bytes), std::end(tensors.region_bytes), kBytes);
      return tensors;
    }();
    return all;
  }

  bounds::Regions regions_;
};

TEST_F(MemoryOfAPayload, AllOfTheStateMayBeUsed) {
  constexpr std::uint32_t kNeed = bounds::kBlockAligned | bounds::kWrite | bounds::kPersistent;
  EXPECT_TRUE(regions_.contain(ref(kState, 0), kBytes, kNeed));
  EXPECT_TRUE(regions_.contain(ref(kState, kBytes - 16), 16, kNeed));
  EXPECT_FALSE(regions_.contain(ref(kState, kBytes - 16), 17, kNeed));
  EXPECT_FALSE(regions_.contain(ref(kState, kBytes), 1, kNeed));
}

TEST_F(MemoryOfAPayload, ContainsTheBytesOfEachBaseAndNoOthers) {
  for (unsigned base = 0; base < payload::kBaseNone; ++base) {
    const std::uint32_t begin = base == payload::kBaseConstant ? kConstantsOffset : 0;
    for (std::uint32_t offset = 0; offset <= begin + kBytes + 1; ++offset) {
      for (const std::uint32_t bytes :
           {0u, 1u, 2u, kBytes - 1, kBytes, kBytes + 1, begin + kBytes - offset,
            begin + kBytes + 1 - offset, payload::kMaxRefOffset, bounds::kTooLarge}) {
        const bool inside = bytes > 0 && offset >= begin &&
                            std::uint64_t{offset} + bytes <= std::uint64_t{begin} + kBytes;
        ASSERT_EQ(regions_.contain(ref(base, offset), bytes, bounds::kByteAligned), inside)
            << "base " << base << ", " << bytes << " bytes at " << offset;
      }
    }
  }
}

TEST_F(MemoryOfAPayload, ABaseThatIsNotThereContainsNothingWhateverItsMemoryHeld) {
  alignas(bounds::Regions) unsigned char memory[sizeof(bounds::Regions)];
  std::memset(memory, 0x7f, sizeof(memory));
  const auto& regions = *new (memory) bounds::Regions(header(), tensors().tensors);
  for (const std::uint32_t bytes : {1u, 16u, kBytes}) {
    EXPECT_FALSE(regions.contain(ref(payload::kBaseNone, 0), bytes, bounds::kByteAligned));
  }
}

TEST_F(MemoryOfAPayload, ConstantsHaveWhatKernelsLoadPastTheirEnd) {
  for (const unsigned base : {payload::kBaseArena, payload::kBaseConstant, kCopies, kState}) {
    const bool constant = base == payload::kBaseConstant || base == kCopies;
    const std::uint32_t begin = base == payload::kBaseConstant ? kConstantsOffset : 0;
    for (std::uint32_t offset = 0; offset <= begin + kBytes + 1; ++offset) {
      const payload::Ref refs[] = {ref(base, offset)};
      for (const std::uint32_t past : {0u, 1u, 2u, 15u, kBytes - 1, kBytes}) {
        for (const std::uint32_t bytes :
             {0u, 1u, 2u, kBytes - past, kBytes + 1 - past, begin + kBytes - offset,
              begin + kBytes - offset - past, begin + kBytes + 1 - offset - past,
              payload::kMaxRefOffset, payload::kMaxRefOffset + 1, payload::kMaxRefOffset + 2,
              bounds::kTooLarge - 1, bounds::kTooLarge}) {
          const bool inside = constant && bytes > 0 && offset >= begin &&
                              std::uint64_t{offset} + bytes + past <= std::uint64_t{begin} + kBytes;
          ASSERT_EQ(regions_.contain_constants(refs, bytes, 1, past), inside)
              << "base " << base << ", " << bytes << " bytes at " << offset << ", and " << past;
        }
      }
    }
  }
}

TEST_F(MemoryOfAPayload, CopiesOfConstantsLieApartFromWhatCallsWrite) {
  using Overlap = bounds::Regions::Overlap;
  for (unsigned base = 0; base < payload::kBaseNone; ++base) {
    if (base == payload::kBaseConstant || base == kCopies) {
      continue;  // these count as the same
    }
    for (std::uint32_t offset = 0; offset < kBytes; offset += 16) {
      EXPECT_EQ(regions_.overlap(ref(kCopies, offset), 16, ref(base, 0), kBytes), Overlap::kNone)
          << "base " << base << ", copy at " << offset;
    }
  }
  EXPECT_EQ(regions_.offset_of_constant(ref(kCopies, 32)), kConstantsOffset + 32);
}

TEST_F(Geometry, Resizing) {
  Dims from = {}, to = {};
  compare(
      [&] {
        const auto side = [&] {
          return draw_.one_in(4) ? kMaxResized - draw_.in(0, 1) : draw_.size();
        };
        from = {draw_.size(), side(), side(), draw_.size()};
        to = {from.n, side(), side(), from.c};
        draw_.disturb(fields(from, to));
      },
      [&] { return geometry::resizing(call_, from, to); },
      [&] {
        for (const std::int32_t side : {from.h, from.w, to.h, to.w}) {
          if (!in(side, 1, kMaxResized)) {
            return false;
          }
        }
        return is_size(from.n) && is_size(from.c) && from.n == to.n && from.c == to.c;
      });
}

TEST_F(Geometry, LogMel) {
  std::int32_t samples = 0, hop = 0, frames = 0, frame_length = 0, fft_length = 0;
  compare(
      [&] {
        fft_length = draw_.one_in(4) ? draw_.in(0, 100) : 1 << draw_.in(0, 12);
        frame_length = draw_.in(0, fft_length + 1);
        hop = draw_.in(0, 20);
        frames = draw_.in(0, 9);
        samples = (frames - 1) * hop + frame_length + draw_.in(-1, 1);
        draw_.disturb({&samples, &hop, &frames, &frame_length, &fft_length});
      },
      [&] { return geometry::log_mel(call_, samples, hop, frames, frame_length, fft_length); },
      [&] {
        bool is_power = false;
        for (std::int64_t power = 1; power <= fft_length; power *= 2) {
          is_power = is_power || power == fft_length;
        }
        const std::int64_t end = (std::int64_t{frames} - 1) * hop + frame_length;
        return is_power && frame_length >= 1 && frame_length <= fft_length && hop >= 1 &&
               frames >= 1 && end <= samples;
      });
}

TEST_F(Geometry, CtcGreedy) {
  std::int32_t steps = 0, classes = 0, written = 0, blank = 0, seen = 0;
  compare(
      [&] {
        steps = draw_.in(1, 9);
        classes = draw_.in(1, 9);
        blank = draw_.in(0, classes - 1);
        seen = draw_.in(0, steps - 1);
        written = steps - seen;
        draw_.disturb({&steps, &classes, &written, &blank, &seen});
      },
      [&] { return geometry::ctc_greedy(call_, steps, classes, written, blank, seen); },
      [&] {
        return in(seen, 0, steps - std::int64_t{1}) && std::int64_t{seen} + written == steps &&
               in(blank, 0, classes - std::int64_t{1});
      });
}

TEST_F(Geometry, CameraImage) {
  payload::CameraImageArgs args = {};
  Dims &frame = args.frame_dims, &out = args.output_dims;
  payload::Crop& crop = args.crop;
  compare(
      [&] {
        const auto side = [&] {
          return draw_.one_in(4) ? kMaxResized - draw_.in(0, 1) : draw_.size();
        };
        frame = {draw_.size(), side(), 2 * draw_.in(1, 9), 2};
        out = {frame.n, side(), side(), draw_.one_in(2) ? 1 : 3};
        crop = {draw_.in(-1, 9), draw_.in(-1, 9), draw_.in(0, 9), draw_.in(0, 9)};
        if (!draw_.one_in(3)) {
          frame.h = crop.top + crop.h + draw_.in(0, 2);
          frame.w = (crop.left + crop.w + draw_.in(1, 2)) / 2 * 2;
        }
        draw_.disturb(fields(frame, out));
        draw_.disturb({&crop.top, &crop.left, &crop.h, &crop.w});
      },
      [&] { return geometry::camera_image(call_, args); },
      [&] {
        for (const std::int32_t side : {frame.h, frame.w, out.h, out.w}) {
          if (!in(side, 1, kMaxResized)) {
            return false;
          }
        }
        return is_size(frame.n) && frame.n == out.n && frame.c == 2 && frame.w % 2 == 0 &&
               (out.c == 1 || out.c == 3) && crop.top >= 0 && crop.h >= 1 && crop.left >= 0 &&
               crop.w >= 1 && std::int64_t{crop.top} + crop.h <= frame.h &&
               std::int64_t{crop.left} + crop.w <= frame.w;
      });
}

TEST_F(Geometry, BatchMatmul) {
  payload::BatchMatmulArgs args = {};
  Dims &a = args.input1_dims, &b = args.input2_dims, &out = args.output_dims;
  const auto batches = [](std::int32_t first, std::int32_t second, std::int32_t result) {
    return (first == result || first == 1) && (second == result || second == 1) &&
           (first == result || second == result);
  };
  compare(
      [&] {
        const std::int32_t inner = draw_.one_in(4) ? kMaxProducts - draw_.in(0, 1) : draw_.in(1, 9);
        a = {draw_.size(), draw_.size(), draw_.size(), inner};
        b = {a.n, a.h, draw_.size(), inner};
        out = {a.n, a.h, a.w, b.w};
        (draw_.one_in(2) ? a : b).n = draw_.one_in(2) ? 1 : a.n;
        (draw_.one_in(2) ? a : b).h = draw_.one_in(2) ? 1 : a.h;
        draw_.disturb(fields(a, b, out));
      },
      [&] { return geometry::batch_matmul(call_, args); },
      [&] {
        return are_sizes(a) && are_sizes(b) && are_sizes(out) && a.c <= kMaxProducts &&
               a.c == b.c && out.w == a.w && out.c == b.w && batches(a.n, b.n, out.n) &&
               batches(a.h, b.h, out.h);
      });
}

class GeometryOfGroups : public Geometry {
 protected:
  /// Groups have at most 2^`bits` elements.
  template <typename Args>
  void compare_groups(int bits) {
    const std::int32_t max_group = 1 << bits;
    Args args = {};
    compare(
        [&] {
          args.groups = draw_.in(1, 4);
          args.rows = args.groups * draw_.in(1, 4);
          args.outer = 1 << draw_.in(0, bits);
          args.inner = draw_.one_in(2) ? max_group / args.outer : draw_.in(1, 3);
          args.group_step = draw_.in(0, 3);
          args.outer_step = draw_.in(0, 3);
          args.inner_step = draw_.in(0, 3);
          const std::int64_t last = (args.groups - 1) * args.group_step +
                                    std::int64_t{args.outer - 1} * args.outer_step +
                                    std::int64_t{args.inner - 1} * args.inner_step;
          args.parameters = static_cast<std::int32_t>(last + draw_.in(1, 3));
          draw_.disturb({&args.groups, &args.rows, &args.outer, &args.inner, &args.group_step,
                         &args.outer_step, &args.inner_step, &args.parameters});
        },
        [&] { return geometry::normalize(call_, args); },
        [&] {
          return in(args.outer, 1, max_group) && in(args.inner, 1, max_group) &&
                 in(args.groups, 1, kMost) && in(args.rows, 1, kMost) &&
                 in(args.parameters, 1, kMost) && in(args.group_step, 0, kMost) &&
                 in(args.outer_step, 0, kMost) && in(args.inner_step, 0, kMost) &&
                 Wide{args.outer} * args.inner <= max_group && args.rows % args.groups == 0 &&
                 Wide{args.groups - 1} * args.group_step + Wide{args.outer - 1} * args.outer_step +
                         Wide{args.inner - 1} * args.inner_step <
                     args.parameters;
        });
  }
};

TEST_F(GeometryOfGroups, Normalize) { compare_groups<payload::NormalizeArgs>(20); }
TEST_F(GeometryOfGroups, NormalizeInt16) { compare_groups<payload::NormalizeInt16Args>(15); }

TEST_F(Geometry, StridedCopy) {
  payload::StridedCopyArgs args = {};
  const std::array<payload::CopyAxis*, 6> axes = {&args.axis0, &args.axis1, &args.axis2,
                                                  &args.axis3, &args.axis4, &args.axis5};
  Wide first = 0, last = 0, written = 0, steps = 1;
  const auto reach = [&] {
    first = last = args.input_offset;
    written = args.output_offset;
    steps = 1;
    for (const payload::CopyAxis* axis : axes) {
      const Wide moved = (Wide{axis->size} - 1) * axis->input_stride;
      (moved < 0 ? first : last) += moved;
      written += (Wide{axis->size} - 1) * axis->output_stride;
      steps *= axis->size;
    }
  };
  compare(
      [&] {
        std::vector<std::int32_t*> all = {&args.input_count, &args.output_count, &args.input_offset,
                                          &args.output_offset};
        for (payload::CopyAxis* axis : axes) {
          *axis = {draw_.one_in(2) ? 1 : draw_.in(1, 5), draw_.in(-3, 3), draw_.in(0, 4)};
          all.insert(all.end(), {&axis->size, &axis->input_stride, &axis->output_stride});
        }
        args.input_offset = args.output_offset = 0;
        reach();
        args.input_offset = static_cast<std::int32_t>(-first);
        args.output_offset = draw_.in(0, 1);
        reach();
        args.input_count = static_cast<std::int32_t>(last) + 1;
        args.output_count = static_cast<std::int32_t>(std::max(written + 1, steps));
        draw_.disturb(all);
        reach();
      },
      [&] { return geometry::strided_copy(call_, args); },
      [&] {
        for (const payload::CopyAxis* axis : axes) {
          if (!in(axis->size, 1, Wide{kMost} + 1) || !in(axis->output_stride, 0, kMost) ||
              !in(axis->input_stride, -Wide{kMost} - 1, kMost)) {
            return false;
          }
        }
        return in(args.output_offset, 0, kMost) && first >= 0 && last < args.input_count &&
               written < args.output_count && steps <= args.output_count;
      });
}

TEST_F(Geometry, Broadcast) {
  Dims a = {}, b = {}, out = {};
  compare(
      [&] {
        out = a = b = {draw_.size(), draw_.size(), draw_.size(), draw_.size()};
        for (int i = draw_.in(0, 3); i != 0; --i) {
          const auto dim = static_cast<std::size_t>(draw_.in(0, 3));
          *fields(draw_.one_in(2) ? a : b)[dim] = 1;
        }
        draw_.disturb(fields(a, b, out));
      },
      [&] { return geometry::broadcast(call_, a, b, out); },
      [&] {
        for (std::size_t dim = 0; dim < 4; ++dim) {
          const std::int32_t x = *fields(a)[dim], y = *fields(b)[dim], z = *fields(out)[dim];
          if (!in(z, 1, kMaxDim) || (x != z && x != 1) || (y != z && y != 1) ||
              (x != z && y != z)) {
            return false;
          }
        }
        return true;
      });
}

TEST_F(Geometry, PadNd) {
  payload::PadNdArgs args = {};
  const std::array<payload::PadAxis*, 6> axes = {&args.axis0, &args.axis1, &args.axis2,
                                                 &args.axis3, &args.axis4, &args.axis5};
  const auto counts = [&](Wide& read, Wide& written) {
    read = written = args.row_size;
    for (const payload::PadAxis* axis : axes) {
      read = std::min(read * axis->input_size, Wide{1} << 40);
      written = std::min(written * axis->output_size, Wide{1} << 40);
    }
  };
  Wide read = 0, written = 0;
  compare(
      [&] {
        std::vector<std::int32_t*> all = {&args.input_count, &args.output_count, &args.row_size};
        args.mode = draw_.in(0, 2);
        args.row_size = draw_.in(1, 9);
        for (payload::PadAxis* axis : axes) {
          const std::int32_t size = draw_.one_in(2) ? 1 : draw_.in(1, 5);
          const std::int32_t before = draw_.in(0, size - 1);
          *axis = {size, size + before + draw_.in(0, size - 1), before};
          all.insert(all.end(), {&axis->input_size, &axis->output_size, &axis->before});
        }
        counts(read, written);
        args.input_count = static_cast<std::int32_t>(read);
        args.output_count = static_cast<std::int32_t>(written);
        draw_.disturb(all);
        if (draw_.one_in(2)) {  // so that other sizes are refused for another reason
          counts(read, written);
          args.input_count = static_cast<std::int32_t>(read);
          args.output_count = static_cast<std::int32_t>(written);
        }
      },
      [&] { return geometry::pad_nd(call_, args); },
      [&] {
        counts(read, written);
        bool reflects = true;
        for (const payload::PadAxis* axis : axes) {
          const Wide size = axis->input_size;
          if (!in(size, 1, Wide{kMost} + 1) || !in(axis->output_size, 1, Wide{kMost} + 1) ||
              !in(axis->before, -Wide{kMost} - 1, kMost)) {
            return false;
          }
          const Wide after = Wide{axis->output_size} - size - axis->before;
          reflects = reflects && axis->before <= size - 1 && after <= size - 1;
        }
        // bounds::kTooLarge, which is no size of an operand
        const auto counted = [](Wide size, std::int32_t count) {
          return in(size, 0, kMost) ? size == count : count == -1;
        };
        return counted(read, args.input_count) && counted(written, args.output_count) &&
               (args.mode != 1 || reflects);
      });
}

TEST_F(Geometry, Embedding) {
  payload::EmbeddingArgs args = {};
  const auto last = [&] {
    return args.first + (Wide{args.outer} - 1) * args.outer_step +
           (Wide{args.inner} - 1) * args.inner_step;
  };
  compare(
      [&] {
        args.first = draw_.in(0, 3);
        args.outer = draw_.in(1, 9);
        args.outer_step = draw_.in(0, 9);
        args.inner = draw_.in(1, 9);
        args.inner_step = draw_.in(0, 9);
        args.input_count = static_cast<std::int32_t>(last()) + draw_.in(1, 2);
        draw_.disturb({&args.first, &args.outer, &args.outer_step, &args.inner, &args.inner_step,
                       &args.input_count});
      },
      [&] { return geometry::embedding(call_, args); },
      [&] {
        return in(args.first, 0, kMost) && in(args.outer, 1, Wide{kMost} + 1) &&
               in(args.inner, 1, Wide{kMost} + 1) && in(args.outer_step, 0, kMost) &&
               in(args.inner_step, 0, kMost) && last() < args.input_count;
      });
}

}  // namespace
}  // namespace cmsis_nn_delegate
