// Each kernel against the plainest computation of what runtime/payload/format.h says, over random
// shapes: one output element at a time, by coordinates, with no arithmetic shared but requantize()
// (which has its own test).
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"
#include "tests/payloads/put.h"

namespace cmsis_nn_delegate::portable {
namespace {

using payload::Activation;
using payload::Dims;
using payload::put;

/// References used in these tests: base i, offset 0.
payload::Ref base(unsigned index) { return index << payload::kRefOffsetBits; }

class KernelsTest : public ::testing::Test {
 protected:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  std::vector<std::int8_t> bytes(int count) {
    std::vector<std::int8_t> values(static_cast<std::size_t>(count));
    for (auto& value : values) {
      value = static_cast<std::int8_t>(pick(-128, 127));
    }
    return values;
  }
  std::vector<std::int32_t> words(int count, int low, int high) {
    std::vector<std::int32_t> values(static_cast<std::size_t>(count));
    for (auto& value : values) {
      value = pick(low, high);
    }
    return values;
  }
  Activation activation() {
    const int a = pick(-128, 127);
    const int b = pick(-128, 127);
    return pick(0, 1) != 0 ? Activation{-128, 127} : Activation{std::min(a, b), std::max(a, b)};
  }

  /// Runs `kernel` with the vectors as bases 0, 1, ...
  template <typename Args, typename... Vectors>
  void run(const Kernel& kernel, const Args& args, Vectors&... vectors) {
    Bases bases = {};
    unsigned count = 0;
    ((bases[count++] = reinterpret_cast<std::uint8_t*>(vectors.data())), ...);
    ASSERT_EQ(kernel.run(&args, bases), Error::Ok);
  }

  std::mt19937 random_{7};
};

std::size_t offset(const Dims& d, int n, int h, int w, int c) {
  return static_cast<std::size_t>(((n * d.h + h) * d.w + w) * d.c + c);
}

int volume(const Dims& d) { return d.n * d.h * d.w * d.c; }

std::int8_t limited(std::int64_t value, const Activation& activation) {
  return static_cast<std::int8_t>(
      std::min<std::int64_t>(std::max<std::int64_t>(value, activation.min), activation.max));
}

TEST_F(KernelsTest, Conv2dAndDepthwise) {
  for (int round = 0; round < 600; ++round) {
    const bool depthwise = round % 2 != 0;
    const int groups = depthwise ? pick(1, 20) : pick(1, 3);
    const int in_per_group = depthwise ? 1 : pick(1, 6);
    const int out_per_group = depthwise ? (pick(0, 1) != 0 ? 1 : pick(1, 18)) : pick(1, 5);
    const int kh = pick(1, 4);
    const int kw = pick(1, 4);
    const payload::Tile stride = {pick(1, 3), pick(1, 3)};
    const payload::Tile padding = {pick(0, kw), pick(0, kh)};
    const payload::Tile dilation = {pick(1, 2), pick(1, 3)};
    const Dims in = {pick(1, 3), pick(1, 9), pick(1, 9), groups * in_per_group};
    const Dims out = {in.n, pick(1, 6), pick(1, 6), groups * out_per_group};
    std::vector<std::int8_t> input = bytes(volume(in));
    std::vector<std::int8_t> filter = bytes(out.c * kh * kw * in_per_group);
    std::vector<std::int32_t> bias = words(out.c, -5000, 5000);
    std::vector<std::int32_t> multiplier =
        words(out.c, 1 << 30, std::numeric_limits<std::int32_t>::max());
    std::vector<std::int32_t> shift = words(out.c, -10, 2);
    std::vector<std::int8_t> output(static_cast<std::size_t>(volume(out)));
    const Activation limits = activation();
    const int in_offset = pick(-127, 128);
    const int out_offset = pick(-128, 127);
    const auto fill = [&](auto& args, const Dims& filter_dims) {
      put(args.params.input_offset, in_offset);
      put(args.params.output_offset, out_offset);
      put(args.params.stride, stride);
      put(args.params.padding, padding);
      put(args.params.dilation, dilation);
      put(args.params.activation, limits);
      put(args.input_dims, in);
      put(args.filter_dims, filter_dims);
      put(args.output_dims, out);
    };

    if (depthwise) {
      payload::DepthwiseConv2dArgs args = {};
      args.input = base(0), args.filter = base(1), args.bias = base(2);
      args.multiplier = base(3), args.shift = base(4), args.output = base(5);
      args.params.ch_mult = out_per_group;
      fill(args, {1, kh, kw, out.c});
      run(kDepthwiseConv2d, args, input, filter, bias, multiplier, shift, output);
    } else {
      payload::Conv2dArgs args = {};
      args.input = base(0), args.filter = base(1), args.bias = base(2);
      args.multiplier = base(3), args.shift = base(4), args.output = base(5);
      fill(args, {out.c, kh, kw, in_per_group});
      run(kConv2d, args, input, filter, bias, multiplier, shift, output);
    }

    for (int n = 0; n < out.n; ++n) {
      for (int y = 0; y < out.h; ++y) {
        for (int x = 0; x < out.w; ++x) {
          for (int c = 0; c < out.c; ++c) {
            const auto channel = static_cast<std::size_t>(c);
            std::int64_t sum = bias[channel];
            for (int ky = 0; ky < kh; ++ky) {
              for (int kx = 0; kx < kw; ++kx) {
                const int in_y = y * stride.h - padding.h + ky * dilation.h;
                const int in_x = x * stride.w - padding.w + kx * dilation.w;
                if (in_y < 0 || in_y >= in.h || in_x < 0 || in_x >= in.w) {
                  continue;
                }
                for (int i = 0; i < in_per_group; ++i) {
                  const int in_c = c / out_per_group * in_per_group + i;
                  const int weight_at = depthwise ? (ky * kw + kx) * out.c + c
                                                  : ((c * kh + ky) * kw + kx) * in_per_group + i;
                  sum += filter[static_cast<std::size_t>(weight_at)] *
                         (input[offset(in, n, in_y, in_x, in_c)] + in_offset);
                }
              }
            }
            const std::int64_t value =
                std::int64_t{requantize(static_cast<std::int32_t>(sum), multiplier[channel],
                                        shift[channel])} +
                out_offset;
            ASSERT_EQ(output[offset(out, n, y, x, c)], limited(value, limits))
                << (depthwise ? "depthwise" : "conv2d") << " round " << round;
          }
        }
      }
    }
  }
}

TEST_F(KernelsTest, FullyConnected) {
  for (int round = 0; round < 200; ++round) {
    const int batch = pick(1, 4);
    const int inputs = pick(1, 70);
    const int outputs = pick(1, 20);
    std::vector<std::int8_t> input = bytes(batch * inputs);
    std::vector<std::int8_t> filter = bytes(inputs * outputs);
    std::vector<std::int32_t> bias = words(outputs, -50000, 50000);
    std::vector<std::int32_t> multiplier =
        words(outputs, 1 << 30, std::numeric_limits<std::int32_t>::max());
    std::vector<std::int32_t> shift = words(outputs, -12, 0);
    std::vector<std::int8_t> output(static_cast<std::size_t>(batch * outputs));
    payload::FullyConnectedArgs args = {};
    args.input = base(0), args.filter = base(1), args.bias = base(2);
    args.multiplier = base(3), args.shift = base(4), args.output = base(5);
    args.batch = batch, args.inputs = inputs, args.outputs = outputs;
    args.output_offset = pick(-128, 127), args.activation = activation();
    run(kFullyConnected, args, input, filter, bias, multiplier, shift, output);
    const auto expected = [&](int n, int o) {
      const auto channel = static_cast<std::size_t>(o);
      std::int64_t sum = bias[channel];
      for (int i = 0; i < inputs; ++i) {
        sum += input[static_cast<std::size_t>(n * inputs + i)] *
               filter[static_cast<std::size_t>(o * inputs + i)];
      }
      const std::int64_t value = std::int64_t{requantize(static_cast<std::int32_t>(sum),
                                                         multiplier[channel], shift[channel])} +
                                 args.output_offset;
      return limited(value, args.activation);
    };
    for (int n = 0; n < batch; ++n) {
      for (int o = 0; o < outputs; ++o) {
        ASSERT_EQ(output[static_cast<std::size_t>(n * outputs + o)], expected(n, o));
      }
    }

    payload::FullyConnectedPerTensorArgs uniform = {};
    uniform.input = base(0), uniform.filter = base(1), uniform.bias = base(2);
    uniform.output = base(3);
    uniform.batch = batch, uniform.inputs = inputs, uniform.outputs = outputs;
    uniform.output_offset = args.output_offset, uniform.activation = args.activation;
    uniform.multiplier = multiplier[0], uniform.shift = shift[0];
    run(kFullyConnectedPerTensor, uniform, input, filter, bias, output);
    multiplier.assign(multiplier.size(), multiplier[0]);
    shift.assign(shift.size(), shift[0]);
    for (int n = 0; n < batch; ++n) {
      for (int o = 0; o < outputs; ++o) {
        ASSERT_EQ(output[static_cast<std::size_t>(n * outputs + o)], expected(n, o));
      }
    }
  }
}

TEST_F(KernelsTest, AddIsTheRealSumWithinOneStep) {
  for (int round = 0; round < 200; ++round) {
    const double scale1 = pick(1, 1000) / 1000.0;
    const double scale2 = pick(1, 1000) / 1000.0;
    const double scale_out = scale1 + scale2;  // no saturation but by the zero points
    const double twice_max = 2 * std::max(scale1, scale2);
    // A multiplier below 1 as Q31 and a shift <= 0.
    const auto quantized = [](double value, std::int32_t& multiplier, std::int32_t& shift) {
      int exponent = 0;
      multiplier = static_cast<std::int32_t>(
          std::min(std::lround(std::frexp(value, &exponent) * 2147483648.0), 2147483647L));
      shift = exponent;
    };
    payload::AddArgs args = {};
    quantized(scale1 / twice_max, args.input1_multiplier, args.input1_shift);
    quantized(scale2 / twice_max, args.input2_multiplier, args.input2_shift);
    quantized(twice_max / ((1 << 20) * scale_out), args.output_multiplier, args.output_shift);
    args.input1 = base(0), args.input2 = base(1), args.output = base(2);
    args.input1_offset = pick(-127, 128);
    args.input2_offset = pick(-127, 128);
    args.output_offset = pick(-128, 127);
    args.left_shift = 20;
    args.activation = activation();
    args.count = pick(1, 100);
    std::vector<std::int8_t> input1 = bytes(args.count);
    std::vector<std::int8_t> input2 = bytes(args.count);
    std::vector<std::int8_t> output(input1.size());
    run(kAdd, args, input1, input2, output);
    for (std::size_t i = 0; i < output.size(); ++i) {
      const double real =
          (input1[i] + args.input1_offset) * scale1 + (input2[i] + args.input2_offset) * scale2;
      const double exact = real / scale_out + args.output_offset;
      const double clamped =
          std::min<double>(std::max<double>(exact, args.activation.min), args.activation.max);
      ASSERT_NEAR(output[i], clamped, 0.51) << "round " << round;
    }
    // In place.
    args.output = base(0);
    run(kAdd, args, input1, input2, output);
    ASSERT_EQ(input1, output);
  }
}

TEST_F(KernelsTest, Pooling) {
  for (int round = 0; round < 400; ++round) {
    const int kh = pick(1, 5);
    const int kw = pick(1, 5);
    const payload::Tile stride = {pick(1, 3), pick(1, 3)};
    const payload::Tile padding = {pick(0, kw - 1), pick(0, kh - 1)};
    const Dims in = {pick(1, 3), pick(1, 9), pick(1, 9), pick(1, 40)};
    // As many windows as start in the input or before it.
    const Dims out = {in.n, (in.h + padding.h - 1) / stride.h + 1,
                      (in.w + padding.w - 1) / stride.w + 1, in.c};
    std::vector<std::int8_t> input = bytes(volume(in));
    std::vector<std::int8_t> averages(static_cast<std::size_t>(volume(out)));
    std::vector<std::int8_t> maxima(averages.size());
    const payload::PoolParams params = {stride, padding, activation()};
    const payload::AvgPool2dArgs avg = {base(0), payload::kNoRef, base(1), 0, params,
                                        in,      {1, kh, kw, 1},  out};
    run(kAvgPool2d, avg, input, averages);
    const payload::MaxPool2dArgs max = {base(0), base(1), params, in, {1, kh, kw, 1}, out};
    run(kMaxPool2d, max, input, maxima);
    for (int n = 0; n < out.n; ++n) {
      for (int y = 0; y < out.h; ++y) {
        for (int x = 0; x < out.w; ++x) {
          for (int c = 0; c < out.c; ++c) {
            int sum = 0;
            int count = 0;
            int largest = -128;
            for (int ky = 0; ky < kh; ++ky) {
              for (int kx = 0; kx < kw; ++kx) {
                const int in_y = y * stride.h - padding.h + ky;
                const int in_x = x * stride.w - padding.w + kx;
                if (in_y >= 0 && in_y < in.h && in_x >= 0 && in_x < in.w) {
                  const int value = input[offset(in, n, in_y, in_x, c)];
                  sum += value;
                  largest = std::max(largest, value);
                  ++count;
                }
              }
            }
            // Halves away from zero.
            const auto mean = static_cast<std::int64_t>(std::lround(double(sum) / count));
            ASSERT_EQ(averages[offset(out, n, y, x, c)], limited(mean, params.activation));
            ASSERT_EQ(maxima[offset(out, n, y, x, c)], limited(largest, params.activation));
          }
        }
      }
    }
  }
}

TEST_F(KernelsTest, SoftmaxIsTheRealOneWithinOneStep) {
  for (int round = 0; round < 300; ++round) {
    const double scale = pick(1, 400) / 1000.0;
    // The input scale as a multiple of 2^-26 (5 integer bits) in Q31 with a left shift.
    int exponent = 0;
    const double fraction = std::frexp(scale * (1 << 26), &exponent);
    payload::SoftmaxArgs args = {};
    args.input = base(0), args.output = base(1);
    args.rows = pick(1, 4);
    args.row_size = pick(1, 60);
    args.multiplier =
        static_cast<std::int32_t>(std::min(std::lround(fraction * 2147483648.0), 2147483647L));
    args.shift = exponent;
    args.diff_min = -static_cast<std::int32_t>(31.0 * (1 << 26) / std::pow(2.0, exponent));
    std::vector<std::int8_t> input = bytes(args.rows * args.row_size);
    std::vector<std::int8_t> output(input.size());
    run(kSoftmax, args, input, output);
    for (int row = 0; row < args.rows; ++row) {
      const std::int8_t* in = input.data() + row * args.row_size;
      double sum = 0;
      for (int i = 0; i < args.row_size; ++i) {
        sum += std::exp(in[i] * scale);
      }
      for (int i = 0; i < args.row_size; ++i) {
        const double exact = std::min(std::exp(in[i] * scale) / sum * 256 - 128, 127.0);
        ASSERT_NEAR(output[static_cast<std::size_t>(row * args.row_size + i)], exact, 1.0);
      }
    }
  }
}

TEST_F(KernelsTest, SoftmaxOfManyEqualValuesVanishes) {
  // The sum needs more integer bits than the division has: every probability is below half a step.
  payload::SoftmaxArgs args = {base(0), base(1), 1, 2000, 1 << 30, 23, -248};
  std::vector<std::int8_t> input(2000, 5);
  std::vector<std::int8_t> output(2000, 1);
  run(kSoftmax, args, input, output);
  EXPECT_EQ(output, std::vector<std::int8_t>(2000, -128));
}

TEST_F(KernelsTest, QuantizeRoundsHalvesToEven) {
  std::vector<float> input = {0.5f,
                              1.5f,
                              2.5f,
                              -0.5f,
                              -1.5f,
                              -2.5f,
                              0.49999997f,
                              -0.0f,
                              100.f,
                              127.4f,
                              127.5f,
                              -128.5f,
                              1e30f,
                              -1e30f,
                              std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::denorm_min()};
  std::vector<std::int8_t> output(input.size());
  payload::QuantizeArgs args = {base(0), base(1), 1, 1, static_cast<std::int32_t>(input.size()),
                                1.0f,    0};
  run(kQuantize, args, input, output);
  const std::vector<std::int8_t> expected = {0,   2,   2,    0,   -2,   -2,  0,    0, 100,
                                             127, 127, -128, 127, -128, 127, -128, 0, 0};
  EXPECT_EQ(output, expected);
}

TEST_F(KernelsTest, QuantizeAsNearbyint) {
  std::uniform_real_distribution<float> values(-40.f, 40.f);
  for (int round = 0; round < 300; ++round) {
    payload::QuantizeArgs args = {};
    args.input = base(0), args.output = base(1);
    args.batch = pick(1, 2), args.channels = pick(1, 5), args.pixels = pick(1, 50);
    args.inverse_scale = static_cast<float>(std::ldexp(1.0 + pick(0, 1000) / 1000.0, pick(-3, 6)));
    args.zero_point = pick(-128, 127);
    const int count = args.batch * args.channels * args.pixels;
    std::vector<float> input(static_cast<std::size_t>(count));
    for (float& value : input) {
      // Every other one an exact half of a step, as far as floats go.
      value = pick(0, 1) != 0 ? values(random_)
                              : (static_cast<float>(pick(-300, 300)) + 0.5f) / args.inverse_scale;
    }
    std::vector<std::int8_t> output(input.size());
    run(kQuantize, args, input, output);
    for (int n = 0; n < args.batch; ++n) {
      for (int c = 0; c < args.channels; ++c) {
        for (int p = 0; p < args.pixels; ++p) {
          const float x =
              input[static_cast<std::size_t>((n * args.channels + c) * args.pixels + p)];
          const float scaled = x * args.inverse_scale;
          const auto expected = limited(
              static_cast<std::int64_t>(std::nearbyint(scaled)) + args.zero_point, {-128, 127});
          ASSERT_EQ(output[static_cast<std::size_t>((n * args.pixels + p) * args.channels + c)],
                    expected)
              << x;
        }
      }
    }
  }
}

TEST_F(KernelsTest, DequantizeEveryValue) {
  for (int round = 0; round < 20; ++round) {
    payload::DequantizeArgs args = {base(0), base(1), 2, pick(1, 4), 64, 0.f, pick(-128, 127)};
    args.scale = static_cast<float>(pick(1, 100000)) / 77777.f;
    std::vector<std::int8_t> input = bytes(2 * args.channels * 64);
    std::vector<float> output(input.size());
    run(kDequantize, args, input, output);
    for (int n = 0; n < 2; ++n) {
      for (int c = 0; c < args.channels; ++c) {
        for (int p = 0; p < 64; ++p) {
          const int q = input[static_cast<std::size_t>((n * 64 + p) * args.channels + c)];
          ASSERT_EQ(output[static_cast<std::size_t>((n * args.channels + c) * 64 + p)],
                    static_cast<float>(q - args.zero_point) * args.scale);
        }
      }
    }
  }
}

TEST_F(KernelsTest, TransposeThereAndBack) {
  for (int round = 0; round < 100; ++round) {
    payload::TransposeArgs args = {base(0), base(1), pick(1, 3), pick(1, 9), pick(1, 9)};
    std::vector<std::int8_t> input = bytes(args.batch * args.rows * args.columns);
    std::vector<std::int8_t> output(input.size());
    run(kTranspose, args, input, output);
    for (int n = 0; n < args.batch; ++n) {
      for (int r = 0; r < args.rows; ++r) {
        for (int c = 0; c < args.columns; ++c) {
          ASSERT_EQ(output[static_cast<std::size_t>((n * args.columns + c) * args.rows + r)],
                    input[static_cast<std::size_t>((n * args.rows + r) * args.columns + c)]);
        }
      }
    }
    std::vector<std::int8_t> back(input.size());
    std::swap(args.rows, args.columns);
    run(kTranspose, args, output, back);
    ASSERT_EQ(back, input);
  }
}

TEST_F(KernelsTest, EmbeddingRefusesIndicesOutsideOfItsTable) {
  constexpr std::int64_t kFar = std::int64_t{1} << 32;  // 0 in 32 bits
  const std::int64_t outside[] = {3,         -4,   INT32_MAX, INT32_MIN, INT64_MAX,
                                  INT64_MIN, kFar, kFar + 1,  -kFar,     -kFar - 1};
  const std::vector<std::int8_t> table = bytes(3 * 2);
  std::vector<std::int8_t> output(4);
  for (const int from_end : {0, 1}) {
    const payload::EmbeddingArgs args = {base(0), base(1), base(2), 3, 3, 2,
                                         1,       2,       1,       0, 1, from_end};
    const auto error = [&](std::int64_t index) {
      Bases bases = {};
      std::int64_t input[] = {99, 2, index};  // the first one is not read
      bases[0] = reinterpret_cast<std::uint8_t*>(input);
      bases[1] = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(table.data()));
      bases[2] = reinterpret_cast<std::uint8_t*>(output.data());
      return kEmbedding.run(&args, bases);
    };
    for (const std::int64_t index : outside) {
      EXPECT_EQ(error(index), Error::InvalidArgument) << index;
    }
    for (const std::int64_t index : {-1, -3}) {
      EXPECT_EQ(error(index), from_end != 0 ? Error::Ok : Error::InvalidArgument);
    }
    ASSERT_EQ(error(1), Error::Ok);
    EXPECT_EQ(output, std::vector<std::int8_t>({table[4], table[5], table[2], table[3]}));
  }
}

/// The last steps of two sequences with the lengths 2 and `last`.
template <typename Length>
Error last_step_with(Length last, std::vector<std::int8_t>& output) {
  const std::int8_t input[] = {1, 2, 3, 4, 5, 6};  // 3 steps of 2 sequences
  const Length lengths[] = {2, last};
  output.resize(2);
  payload::LastStepArgs args = {base(0), base(1), base(2), 3, 2, 1, sizeof(lengths), 0};
  Bases bases = {};
  bases[0] = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(input));
  bases[1] = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(lengths));
  bases[2] = reinterpret_cast<std::uint8_t*>(output.data());
  return kLastStep.run(&args, bases);
}

/// All kernels of sequences with lengths read them by the same function.
TEST_F(KernelsTest, LengthsOutsideOfTheStepsAreRefused) {
  std::vector<std::int8_t> output;
  for (const std::int32_t length : {0, -1, 4, INT32_MIN, INT32_MAX}) {
    EXPECT_EQ(last_step_with<std::int32_t>(length, output), Error::InvalidArgument) << length;
    EXPECT_EQ(last_step_with<std::int64_t>(length, output), Error::InvalidArgument) << length;
  }
  for (const std::int64_t far : {INT64_MIN, INT64_MAX, std::int64_t{1} << 32}) {
    for (const std::int64_t length :
         {far, far + 1 - (far == INT64_MAX), far - (far != INT64_MIN)}) {
      EXPECT_EQ(last_step_with<std::int64_t>(length, output), Error::InvalidArgument) << length;
    }
  }
  for (const std::int32_t length : {1, 2, 3}) {
    ASSERT_EQ(last_step_with<std::int32_t>(length, output), Error::Ok);
    EXPECT_EQ(output, std::vector<std::int8_t>({3, static_cast<std::int8_t>(2 * length)}));
    ASSERT_EQ(last_step_with<std::int64_t>(length, output), Error::Ok);
    EXPECT_EQ(output, std::vector<std::int8_t>({3, static_cast<std::int8_t>(2 * length)}));
  }
}

TEST_F(KernelsTest, StridedCopyOfAPartOfBothTensors) {
  for (int round = 0; round < 300; ++round) {
    payload::StridedCopyArgs args = {base(0), base(1), 0, 0, 0, 0, {}, {}, {}, {}, {}, {}};
    payload::CopyAxis* const axes[] = {&args.axis0, &args.axis1, &args.axis2,
                                       &args.axis3, &args.axis4, &args.axis5};
    int first = 0;
    int last = 0;
    int written = pick(0, 3);  // the elements from the first to the last that inner axes write
    args.output_offset = written++;
    for (int i = 5; i >= 0; --i) {
      *axes[i] = {pick(0, 1) != 0 ? 1 : pick(1, 4), pick(0, 2) != 0 ? pick(-9, 9) : 1,
                  written - args.output_offset + (pick(0, 3) == 0 ? 1 : 0)};
      const int reach = (axes[i]->size - 1) * axes[i]->input_stride;
      (reach < 0 ? first : last) += reach;
      written += (axes[i]->size - 1) * axes[i]->output_stride;
    }
    args.input_offset = -first;
    args.input_count = last - first + 1;
    args.output_count = written + pick(0, 3);

    std::vector<std::int8_t> input = bytes(args.input_count);
    std::vector<std::int8_t> output = bytes(args.output_count);
    std::vector<std::int8_t> expected = output;
    int steps = 1;
    for (const auto* axis : axes) {
      steps *= axis->size;
    }
    for (int step = 0; step < steps; ++step) {
      int from = args.input_offset;
      int to = args.output_offset;
      int rest = step;
      for (int i = 5; i >= 0; --i) {
        from += rest % axes[i]->size * axes[i]->input_stride;
        to += rest % axes[i]->size * axes[i]->output_stride;
        rest /= axes[i]->size;
      }
      expected[static_cast<std::size_t>(to)] = input[static_cast<std::size_t>(from)];
    }
    run(kStridedCopy, args, input, output);
    ASSERT_EQ(output, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace cmsis_nn_delegate::portable
