// Kernels whose output may overlap their input compute the same at every distance that they allow.
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/kernels/portable/portable.h"
#include "tests/payloads/put.h"

namespace cmsis_nn_delegate::portable {
namespace {

using payload::put;

/// References used in these tests: base i, offset 0.
payload::Ref base(unsigned index) { return index << payload::kRefOffsetBits; }

std::int32_t volume(const payload::PackedDims& d) { return d.n * d.h * d.w * d.c; }

/// The size of an element of the operands.
template <typename Args>
inline constexpr std::int32_t kBytesOf =
    std::is_same_v<Args, payload::DepthwiseConv2dVectorsInt16Args> ||
            std::is_same_v<Args, payload::DepthwiseConv2d5x5Int16Args>
        ? 2
        : 1;

class OverlapTest : public ::testing::Test {
 protected:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  /// Arguments of a convolution of `channels` to `filters`, with the operands at bases 0 to 3.
  template <typename Args>
  Args convolution(const payload::Tile& kernel, int stride, int channels, int filters) {
    Args args = {};
    args.input = base(0), args.table = base(1), args.scratch = base(2), args.output = base(3);
    const payload::Tile padding = {pick(0, kernel.w), pick(0, kernel.h)};
    if constexpr (kBytesOf<Args> == 1) {
      put(args.params.input_offset, pick(-127, 128));
      args.params.activation = {-128, 127};
    } else {
      args.params.activation = {-32768, 32767};
    }
    put(args.params.stride, payload::Tile{stride, stride});
    put(args.params.padding, padding);
    args.params.dilation = {1, 1};
    const auto outputs = [&](int size, int taps, int before) {
      return (size + before + pick(0, taps - 1) - taps) / stride + 1;
    };
    const payload::Dims in = {pick(1, 2), kernel.h + pick(0, 9), kernel.w + pick(0, 15), channels};
    put(args.input_dims, in);
    put(args.filter_dims, payload::Dims{filters, kernel.h, kernel.w, channels});
    put(args.output_dims, payload::Dims{in.n, outputs(in.h, kernel.h, padding.h),
                                        outputs(in.w, kernel.w, padding.w), filters});
    return args;
  }

  /// Runs the call in one memory, with the output `distance` bytes before the input, and returns the
  /// output; nullptr: apart from the input.
  template <typename Args>
  std::vector<std::int8_t> run(const Kernel& kernel, const Args& args,
                               const std::int32_t* distance) {
    const auto in = static_cast<std::size_t>(volume(args.input_dims) * kBytesOf<Args>);
    const auto out = static_cast<std::size_t>(volume(args.output_dims) * kBytesOf<Args>);
    std::vector<std::int8_t> memory(in + 3 * out);
    const std::size_t input_at = 2 * out;
    std::memcpy(memory.data() + input_at, image_.data(), in);
    const std::size_t output_at =
        distance == nullptr ? 0 : input_at - static_cast<std::size_t>(*distance);
    std::vector<std::int32_t> scratch(kernel.scratch_bytes(&args) / 4 + 1);
    Bases bases = {};
    bases[0] = reinterpret_cast<std::uint8_t*>(memory.data() + input_at);
    bases[1] = reinterpret_cast<std::uint8_t*>(table_.data());
    bases[2] = reinterpret_cast<std::uint8_t*>(scratch.data());
    bases[3] = reinterpret_cast<std::uint8_t*>(memory.data() + output_at);
    EXPECT_EQ(kernel.run(&args, bases), Error::Ok);
    const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(output_at);
    return {begin, begin + static_cast<std::ptrdiff_t>(out)};
  }

  /// Compares the call at every distance at which operands overlap. Counts those that the kernel allows,
  /// and those that it refuses where the result is another.
  template <typename Args>
  void compare(const Kernel& kernel, const Args& args) {
    ASSERT_TRUE(kernel.accepts(&args));
    constexpr std::int32_t kBytes = kBytesOf<Args>;
    image_.resize(static_cast<std::size_t>(volume(args.input_dims) * kBytes));
    for (std::int8_t& value : image_) {
      value = static_cast<std::int8_t>(pick(-128, 127));
    }
    const std::vector<std::int8_t> expected = run(kernel, args, nullptr);
    const std::int32_t out = volume(args.output_dims);
    // All would take long.
    for (std::int32_t distance = out - 1; distance >= 0;
         distance -= distance > 0 ? pick(1, 1 + out / 32) : 1) {
      check(kernel, args, expected, distance * kBytes);
    }
    // The least one.
    for (std::int32_t distance = 0; distance < out; ++distance) {
      if (kernel.overlaps(&args, distance * kBytes)) {
        check(kernel, args, expected, distance * kBytes);
        break;
      }
    }
  }

  template <typename Args>
  void check(const Kernel& kernel, const Args& args, const std::vector<std::int8_t>& expected,
             std::int32_t distance) {
    const bool same = run(kernel, args, &distance) == expected;
    if (kernel.overlaps(&args, distance)) {
      ASSERT_TRUE(same) << "distance " << distance;
      ++allowed_;
    } else if (!same) {
      ++refused_;
    }
  }

  /// A table of `blocks` blocks, whose words are drawn by their position in a block.
  void draw_table(int blocks, int words, const std::function<std::int32_t(int)>& word) {
    table_.clear();
    for (int i = 0; i < blocks * words; ++i) {
      table_.push_back(word(i % words));
    }
  }

  std::int32_t any() { return pick(INT32_MIN, INT32_MAX); }

  /// Compares a depthwise call with windows of any size.
  template <typename Args>
  void compare_windows(const Kernel& kernel) {
    const int channels = pick(8, 20);
    const payload::Tile taps = {pick(1, 4), pick(1, 4)};
    auto args = convolution<Args>(taps, pick(1, 3), channels, channels);
    args.filter_dims.c = 1;
    put(args.params.padding.h, pick(0, 6));
    put(args.params.dilation.h, pick(1, 3));
    args.blocks = (channels + 7) / 8;
    args.block_words = 24 + 2 * taps.h * taps.w;
    draw_table(args.blocks, args.block_words, [&](int word) {
      const int scale = word - (args.block_words - 16);
      return word < 8        ? pick(-5000, 5000)
             : scale < 0     ? any()
             : scale % 8 < 4 ? pick(1 << 30, INT32_MAX)
                             : pick(-9, -7);
    });
    compare(kernel, args);
  }

  /// Compares depthwise calls with five taps in up to five rows.
  template <typename Args>
  void compare_fives(const Kernel& kernel) {
    for (int round = 0; round < 400; ++round) {
      const int channels = pick(1, 11);
      auto args = convolution<Args>({5, pick(1, 5)}, pick(1, 2), channels, channels);
      args.filter_dims.c = 1;
      args.channel_words = (5 * args.filter_dims.h + 4) / 4 + 2;
      args.band_rows = pick(0, 2) != 0 ? args.output_dims.h : pick(1, args.output_dims.h);
      draw_table(channels, args.channel_words, [&](int word) {
        const int end = word - (args.channel_words - 2);
        return end == -1  ? (any() & 0xFFFFFF) | pick(7, 9) << 24
               : end == 0 ? pick(-5000, 5000)
               : end == 1 ? pick(1 << 30, INT32_MAX)
                          : any();
      });
      compare(kernel, args);
    }
    EXPECT_GT(allowed_, 100);
    EXPECT_GT(refused_, 500);
  }

  std::vector<std::int8_t> image_;
  std::vector<std::int32_t> table_;
  int allowed_ = 0;
  int refused_ = 0;
  std::mt19937 random_{7};
};

TEST_F(OverlapTest, Conv2dByPairs) {
  for (int round = 0; round < 60; ++round) {
    const payload::Tile kernel = {pick(1, 3), pick(1, 3)};
    auto args = convolution<payload::Conv2dPairsArgs>(kernel, pick(1, 2), pick(1, 9), pick(1, 9));
    const int inputs = kernel.h * kernel.w * args.input_dims.c;
    args.block_words = (inputs + 7) / 8 * 8 + 16;
    args.blocks = (args.output_dims.c + 3) / 4;
    draw_table(args.blocks, args.block_words, [&](int word) {
      const int scale = word - (args.block_words - 12);
      return word < 4         ? pick(-5000, 5000)
             : scale < 0      ? any()
             : scale % 3 == 0 ? pick(7, 9)
             : scale % 3 == 1 ? pick(1 << 30, INT32_MAX)
                              : pick(-5000, 5000);
    });
    compare(kConv2dPairs, args);
  }
  EXPECT_GT(allowed_, 500);
  EXPECT_GT(refused_, 500);
}

TEST_F(OverlapTest, Conv2dByWinograd) {
  for (int round = 0; round < 200; ++round) {
    auto args = convolution<payload::Conv2dWinogradArgs>({3, 3}, 1, pick(1, 17), pick(1, 9));
    if (args.params.padding.h > 1 || args.params.padding.w > 1) {
      continue;
    }
    const int weights = (args.input_dims.c + 7) / 8 * 8 * 32;
    args.block_words = weights + 16;
    args.blocks = (args.output_dims.c + 3) / 4;
    draw_table(args.blocks, args.block_words, [&](int word) {
      const int scale = word - weights;
      return scale < 0        ? any()
             : scale % 4 == 1 ? pick(7, 9)
             : scale % 4 == 2 ? pick(1 << 30, INT32_MAX)
                              : pick(-5000, 5000);
    });
    compare(kConv2dWinograd, args);
  }
  EXPECT_GT(allowed_, 300);
  EXPECT_GT(refused_, 300);
}

TEST_F(OverlapTest, DepthwiseByPlanes) {
  for (int round = 0; round < 400; ++round) {
    const int channels = pick(1, 11);
    const int stride = pick(1, 2);
    auto args = convolution<payload::DepthwiseConv2dPlanesArgs>({3, 3}, stride, channels, channels);
    args.filter_dims.c = 1;
    args.channel_words = 7;
    args.along_height = pick(0, 1);
    args.strips = pick(0, 1) != 0 ? pick(2, 6) : 1;
    draw_table(channels, 7, [&](int word) {
      return word < 3    ? any()
             : word == 4 ? pick(7, 9)
             : word == 5 ? pick(1 << 30, INT32_MAX)
                         : pick(-5000, 5000);
    });
    compare(kDepthwiseConv2dPlanes, args);
  }
  EXPECT_GT(allowed_, 50);
  EXPECT_GT(refused_, 500);
}

TEST_F(OverlapTest, DepthwiseByRows) {
  for (int round = 0; round < 400; ++round) {
    const int channels = pick(1, 11);
    const int stride = pick(1, 2);
    auto args = convolution<payload::DepthwiseConv2dRowsArgs>({3, 3}, stride, channels, channels);
    args.filter_dims.c = 1;
    args.channel_words = 7;
    args.along_height = pick(0, 1);
    draw_table(channels, 7, [&](int word) {
      return word == 0   ? (any() & 0xFFFFFF) | pick(0, 1) << 24
             : word < 3  ? any()
             : word == 4 ? pick(7, 9)
             : word == 5 ? pick(1 << 30, INT32_MAX)
                         : pick(-5000, 5000);
    });
    compare(kDepthwiseConv2dRows, args);
  }
  EXPECT_GT(allowed_, 50);
  EXPECT_GT(refused_, 500);
}

TEST_F(OverlapTest, DepthwiseByLines) {
  for (int round = 0; round < 400; ++round) {
    const int channels = pick(1, 11);
    const int taps = pick(2, 9);
    const bool along_height = pick(0, 1) != 0;
    payload::Tile kernel = {1, 1};
    (along_height ? kernel.h : kernel.w) = taps;
    auto args = convolution<payload::DepthwiseConv2dLinesArgs>(kernel, 1, channels, channels);
    args.filter_dims.c = 1;
    args.channel_words = taps / 4 + 3;
    args.along_height = along_height ? 1 : 0;
    args.strips = pick(0, 2) != 0 ? 1 : pick(2, 4);
    if (along_height) {
      args.params.padding.w = 0;
      args.output_dims.w = args.input_dims.w;
    } else {
      args.params.padding.h = 0;
      args.output_dims.h = args.input_dims.h;
    }
    draw_table(channels, args.channel_words, [&](int word) {
      const int end = word - (args.channel_words - 2);
      return end == -1  ? (any() & 0xFFFFFF) | pick(7, 9) << 24
             : end == 0 ? pick(-5000, 5000)
             : end == 1 ? pick(1 << 30, INT32_MAX)
                        : any();
    });
    compare(kDepthwiseConv2dLines, args);
  }
  EXPECT_GT(allowed_, 50);
  EXPECT_GT(refused_, 500);
}

TEST_F(OverlapTest, DepthwiseOf5x5) {
  compare_fives<payload::DepthwiseConv2d5x5Args>(kDepthwiseConv2d5x5);
}

TEST_F(OverlapTest, DepthwiseOf5x5Int16) {
  compare_fives<payload::DepthwiseConv2d5x5Int16Args>(kDepthwiseConv2d5x5Int16);
}

TEST_F(OverlapTest, Conv2dByVectors) {
  for (int round = 0; round < 100; ++round) {
    const payload::Tile kernel =
        pick(0, 1) != 0 ? payload::Tile{1, 1} : payload::Tile{pick(1, 3), pick(1, 3)};
    auto args =
        convolution<payload::Conv2dVectorsArgs>(kernel, pick(1, 2), pick(1, 20), pick(2, 12));
    const int inputs = kernel.h * kernel.w * args.input_dims.c;
    args.block_words = (inputs + 15) / 16 * 8 + 6;
    args.blocks = (args.output_dims.c + 1) / 2;
    draw_table(args.blocks, args.block_words, [&](int word) {
      const int scale = word - (args.block_words - 6);
      return scale < 0   ? any()
             : scale < 2 ? pick(-5000, 5000)
             : scale < 4 ? pick(1 << 30, INT32_MAX)
                         : pick(-9, -7);
    });
    compare(kConv2dVectors, args);
  }
  EXPECT_GT(allowed_, 500);
  EXPECT_GT(refused_, 500);
}

TEST_F(OverlapTest, DepthwiseByVectors) {
  for (int round = 0; round < 100; ++round) {
    const int channels = pick(8, 20);
    auto args =
        convolution<payload::DepthwiseConv2dVectorsArgs>({3, 3}, pick(1, 2), channels, channels);
    args.filter_dims.c = 1;
    put(args.params.padding.h, pick(0, 6));
    args.blocks = (channels + 7) / 8;
    args.block_words = 42;
    draw_table(args.blocks, 42, [&](int word) {
      const int scale = word - 26;
      return word < 8        ? pick(-5000, 5000)
             : scale < 0     ? any()
             : scale % 8 < 4 ? pick(1 << 30, INT32_MAX)
                             : pick(-9, -7);
    });
    compare(kDepthwiseConv2dVectors, args);
  }
  EXPECT_GT(allowed_, 500);
  EXPECT_GT(refused_, 200);
}

TEST_F(OverlapTest, DepthwiseByWindows) {
  for (int round = 0; round < 100; ++round) {
    const int channels = pick(1, 40);
    auto args = convolution<payload::DepthwiseConv2dWindowsArgs>({3, 3}, 1, channels, channels);
    args.filter_dims.c = 1;
    put(args.params.padding.h, pick(0, 6));
    args.blocks = channels;
    args.block_words = 6;
    args.strips = pick(1, 4);
    draw_table(args.blocks, 6, [&](int word) {
      // Weights, with bytes of 0; a sum with a shift of -7 to -9; the multiplier.
      return word == 0   ? 0
             : word < 4  ? any() & 0xFFFFFF
             : word == 4 ? pick(-5000, 5000) * 64 + pick(55, 57)
                         : pick(1 << 30, INT32_MAX);
    });
    compare(kDepthwiseConv2dWindows, args);
  }
  EXPECT_GT(allowed_, 500);
  EXPECT_GT(refused_, 200);
}

TEST_F(OverlapTest, DepthwiseByColumns) {
  for (int round = 0; round < 200; ++round) {
    const int channels = pick(1, 20);
    const int stride = pick(1, 2);
    auto args =
        convolution<payload::DepthwiseConv2dColumnsArgs>({5, 5}, stride, channels, channels);
    args.filter_dims.c = 1;
    put(args.params.padding.h, pick(0, 7));
    args.blocks = channels;
    args.block_words = 11;
    draw_table(args.blocks, 11, [&](int word) {
      // Weights; a sum with a shift of -7 to -9; the multiplier.
      return word < 9    ? any()
             : word == 9 ? pick(-5000, 5000) * 64 + pick(55, 57)
                         : pick(1 << 30, INT32_MAX);
    });
    compare(kDepthwiseConv2dColumns, args);
  }
  EXPECT_GT(allowed_, 100);
  EXPECT_GT(refused_, 500);
}

TEST_F(OverlapTest, DepthwiseByTapVectors) {
  for (int round = 0; round < 100; ++round) {
    compare_windows<payload::DepthwiseConv2dTapVectorsArgs>(kDepthwiseConv2dTapVectors);
  }
  EXPECT_GT(allowed_, 500);
  EXPECT_GT(refused_, 200);
}

TEST_F(OverlapTest, DepthwiseByVectorsInt16) {
  for (int round = 0; round < 100; ++round) {
    compare_windows<payload::DepthwiseConv2dVectorsInt16Args>(kDepthwiseConv2dVectorsInt16);
  }
  EXPECT_GT(allowed_, 500);
  EXPECT_GT(refused_, 200);
}

}  // namespace
}  // namespace cmsis_nn_delegate::portable
