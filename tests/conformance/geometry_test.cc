// Random sizes, strides, paddings and dilations: whatever a kernel of CMSIS-NN accepts, it computes like the
// portable one, within buffers of exact size. Built with the address sanitizer. rules_test.py compares what
// it accepts with the compiler's rules.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/portable/portable.h"
#include "tests/payloads/payload_builder.h"
#include "tests/payloads/put.h"

namespace cmsis_nn_delegate {
namespace {

using executorch::runtime::Error;
using payload::Dims;
using payload::put;
using payload::Tile;
using testing::AlignedBytes;
using testing::make_ref;

/// `Sizes` is Dims or PackedDims.
template <typename Sizes>
std::uint32_t volume(const Sizes& d) {
  return static_cast<std::uint32_t>(d.n * d.h * d.w * d.c);
}

class Sweep : public ::testing::Test {
 protected:
  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }

  /// Allocates a separate buffer of exactly `bytes`, and returns the reference to it.
  payload::Ref buffer(std::uint32_t bytes) {
    buffers_.emplace_back(bytes);
    return make_ref(static_cast<unsigned>(buffers_.size()) - 1);
  }
  payload::Ref random_bytes(std::uint32_t bytes) {
    const payload::Ref ref = buffer(bytes);
    std::generate_n(buffers_.back().data(), bytes, [&] { return random_(); });
    return ref;
  }
  payload::Ref random_words(std::int32_t count, int low, int high) {
    const payload::Ref ref = buffer(static_cast<std::uint32_t>(4 * count));
    for (std::int32_t i = 0; i < count; ++i) {
      buffers_.back().at<std::int32_t>(static_cast<std::size_t>(4 * i)) = pick(low, high);
    }
    return ref;
  }

  /// Returns an axis that passes validation, mostly near the limits: windows at the ends.
  struct Axis {
    std::int32_t in, taps, out, stride, padding, dilation;
  };
  Axis axis(int largest) {
    Axis a;
    a.in = pick(1, largest);
    a.taps = pick(1, 4);
    a.stride = pick(1, 3);
    a.dilation = pick(0, 2) != 0 ? 1 : pick(1, 3);
    const int extent = (a.taps - 1) * a.dilation + 1;
    a.padding = pick(0, 2) != 0 ? pick(0, 1) : pick(0, 4);
    // The smallest number that includes every window that fits, and up to three more.
    const int least = std::max(1, (a.in + a.padding - extent) / a.stride + 1);
    a.out = least + pick(0, 3) % (1 + pick(0, 3));
    return a;
  }

  /// Returns what `kernel` computes for `args`; empty if it does not accept them.
  template <typename Args>
  std::vector<std::int8_t> run(const Kernel& kernel, Args args) {
    if (kernel.accepts != nullptr && !kernel.accepts(&args)) {
      return {};
    }
    const std::size_t count = buffers_.size();
    args.scratch = payload::kNoRef;
    args.scratch_bytes = 0;
    if (kernel.scratch_bytes != nullptr && kernel.scratch_bytes(&args) != 0) {
      args.scratch_bytes = static_cast<std::int32_t>(kernel.scratch_bytes(&args));
      args.scratch = random_bytes(static_cast<std::uint32_t>(args.scratch_bytes));
    }
    const std::uint32_t bytes = volume(args.output_dims);
    args.output = buffer(bytes);
    Bases bases = {};
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      bases[i] = buffers_[i].data();
    }
    EXPECT_EQ(kernel.run(&args, bases), Error::Ok);
    const auto* output = bases.resolve<std::int8_t>(args.output);
    std::vector<std::int8_t> result(output, output + bytes);
    buffers_.erase(buffers_.begin() + static_cast<std::ptrdiff_t>(count), buffers_.end());
    return result;
  }

  /// Returns a convolution of random sizes; the caller adds what depends on its kind.
  template <typename Args>
  Args geometry() {
    // Many with a height of one, for which there are special kernels.
    const Axis h = pick(0, 2) != 0 ? axis(5) : Axis{1, pick(1, 2), pick(1, 2), 1, 0, 1};
    const Axis w = axis(9);
    Args a = {};
    put(a.params.input_offset, pick(-127, 128));
    put(a.params.output_offset, pick(-128, 127));
    put(a.params.stride, Tile{w.stride, h.stride});
    put(a.params.padding, Tile{w.padding, h.padding});
    put(a.params.dilation, Tile{w.dilation, h.dilation});
    put(a.params.activation, payload::Activation{pick(-128, 0), pick(0, 127)});
    const std::int32_t n = pick(0, 2) != 0 ? 1 : 2;
    put(a.input_dims, Dims{n, h.in, w.in, 0});
    put(a.filter_dims, Dims{0, h.taps, w.taps, 0});
    put(a.output_dims, Dims{n, h.out, w.out, 0});
    return a;
  }

  template <typename Args>
  void fill(Args& a) {
    buffers_.clear();
    a.input = random_bytes(volume(a.input_dims));
    a.filter = random_bytes(volume(a.filter_dims));
    a.bias = random_words(a.output_dims.c, -10000, 10000);
    a.multiplier = random_words(a.output_dims.c, 1 << 30, 2147483647);
    a.shift = random_words(a.output_dims.c, -12, -4);
  }

  /// Runs `count` draws of `make`; at least a few must be accepted and a few refused.
  template <typename Make>
  void sweep(int count, const Kernel& kernel, const Kernel& reference, Make make) {
    int accepted = 0;
    for (int i = 0; i < count && !HasFailure(); ++i) {
      auto args = make();
      fill(args);
      const auto result = run(kernel, args);
      if (!result.empty()) {
        ++accepted;
        const auto& in = args.input_dims;
        const auto& filter = args.filter_dims;
        const auto& out = args.output_dims;
        EXPECT_EQ(result, run(reference, args))
            << "image " << in.h << "x" << in.w << "x" << in.c << ", kernel " << filter.h << "x"
            << filter.w << "x" << filter.c << ", output " << out.h << "x" << out.w << "x" << out.c
            << ", stride " << args.params.stride.h << "x" << args.params.stride.w << ", padding "
            << args.params.padding.h << "x" << args.params.padding.w << ", dilation "
            << args.params.dilation.h << "x" << args.params.dilation.w;
      }
    }
    EXPECT_GT(accepted, count / 10);
    EXPECT_LT(accepted, count);
  }

  std::mt19937 random_{20261121};
  std::vector<AlignedBytes> buffers_;
};

TEST_F(Sweep, Convolutions) {
  sweep(40000, cmsis_nn::kConv2d, portable::kConv2d, [&] {
    auto a = geometry<payload::Conv2dArgs>();
    const std::int32_t groups = pick(0, 3) != 0 ? 1 : pick(2, 3);
    put(a.filter_dims.c, pick(1, 5));
    put(a.input_dims.c, groups * a.filter_dims.c);
    put(a.output_dims.c, groups * pick(1, 5));
    a.filter_dims.n = a.output_dims.c;
    return a;
  });
}

TEST_F(Sweep, DepthwiseConvolutions) {
  sweep(40000, cmsis_nn::kDepthwiseConv2d, portable::kDepthwiseConv2d, [&] {
    auto a = geometry<payload::DepthwiseConv2dArgs>();
    a.params.ch_mult = pick(0, 2) != 0 ? 1 : pick(2, 4);
    put(a.input_dims.c, pick(1, 9));
    a.filter_dims.n = 1;
    put(a.output_dims.c, a.params.ch_mult * a.input_dims.c);
    a.filter_dims.c = a.output_dims.c;
    if (pick(0, 1) != 0) {  // for which there is a special kernel
      a.filter_dims.h = a.filter_dims.w = 3;
      a.params.dilation = {1, 1};
    }
    return a;
  });
}

TEST_F(Sweep, TransposedConvolutions) {
  sweep(40000, cmsis_nn::kTransposeConv2d, portable::kTransposeConv2d, [&] {
    auto a = geometry<payload::TransposeConv2dArgs>();
    auto& p = a.params;
    // Sizes of the output with which nothing is cut off at the end, and other ones.
    const auto size = [&](int in, int taps, int stride, int padding) {
      return std::max(1, (in - 1) * stride + taps - padding - pick(0, 3));
    };
    a.filter_dims.h = std::max(a.filter_dims.h, p.stride.h);
    a.filter_dims.w = std::max(a.filter_dims.w, p.stride.w);
    p.padding.h = pick(0, 3) != 0 ? p.stride.h * pick(0, 2) : p.padding.h;
    p.dilation = pick(0, 9) != 0 ? Tile{1, 1} : p.dilation;
    a.output_dims.h = size(a.input_dims.h, a.filter_dims.h, p.stride.h, p.padding.h);
    a.output_dims.w = size(a.input_dims.w, a.filter_dims.w, p.stride.w, p.padding.w);
    const std::int32_t groups = pick(0, 9) != 0 ? 1 : pick(2, 3);
    a.filter_dims.c = pick(1, 9);
    a.input_dims.c = groups * a.filter_dims.c;
    a.filter_dims.n = a.output_dims.c = groups * pick(1, 5);
    return a;
  });
}

TEST_F(Sweep, ProductsOfMatrices) {
  for (int i = 0; i < 4000 && !HasFailure(); ++i) {
    payload::BatchMatmulArgs a = {};
    Dims& out = a.output_dims;
    out = {pick(1, 3), pick(1, 3), pick(1, 4), pick(1, 7)};
    const std::int32_t row_size = pick(1, 3) != 1 ? pick(1, 20) : pick(1, 70);
    // Whether the second input has all batches where the first has one.
    const bool n = pick(0, 1) != 0;
    const bool h = pick(0, 1) != 0;
    a.input1_dims = {n ? pick(0, 1) * (out.n - 1) + 1 : out.n,
                     h ? pick(0, 1) * (out.h - 1) + 1 : out.h, out.w, row_size};
    a.input2_dims = {n ? out.n : pick(0, 1) * (out.n - 1) + 1,
                     h ? out.h : pick(0, 1) * (out.h - 1) + 1, out.c, row_size};
    a.input1_offset = pick(0, 2) != 0 ? pick(-127, 128) : 0;
    a.input2_offset = pick(0, 2) != 0 ? pick(-127, 128) : 0;
    a.output_offset = pick(-128, 127);
    a.multiplier = pick(1 << 30, 2147483647);
    a.shift = pick(-12, -4);
    a.activation = {pick(-128, 0), pick(0, 127)};
    buffers_.clear();
    a.input1 = random_bytes(volume(a.input1_dims));
    a.input2 = random_bytes(volume(a.input2_dims));
    EXPECT_EQ(run(cmsis_nn::kBatchMatmul, a), run(portable::kBatchMatmul, a))
        << "batches " << a.input1_dims.n << "x" << a.input1_dims.h << " and " << a.input2_dims.n
        << "x" << a.input2_dims.h << ", rows " << out.w << " and " << out.c << " of " << row_size;
  }
}

TEST(Softmax, RowsThatTheKernelCannotSum) {
  payload::SoftmaxArgs args = {};
  args.row_size = 511;
  EXPECT_TRUE(cmsis_nn::kSoftmax.accepts(&args));
  args.row_size = 512;
  EXPECT_FALSE(cmsis_nn::kSoftmax.accepts(&args));
}

}  // namespace
}  // namespace cmsis_nn_delegate
