// What callers can get wrong: each is a defined Error, and none is an abort or an access.
#include <array>
#include <cstring>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/runtime/core/evalue.h>

#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/kernels/portable/portable.h"
#include "tests/payloads/payload_builder.h"
#include "tests/payloads/test_tensor.h"

namespace cmsis_nn_delegate {
namespace {

using executorch::runtime::BackendExecutionContext;
using executorch::runtime::BackendInitContext;
using executorch::runtime::DelegateHandle;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::etensor::ScalarType;
using executorch::runtime::etensor::Tensor;
using executorch::runtime::etensor::TensorImpl;
using testing::AlignedBytes;
using testing::TestTensor;

using Sizes = std::array<std::int32_t, 4>;
using Order = std::array<std::uint8_t, 4>;

/// float `sizes` to int8 `sizes`, by one call. The input's bytes are in the order `order`.
AlignedBytes quantize(const Sizes& sizes, const Order& order, std::uint32_t arena_bytes) {
  testing::PayloadBuilder builder;
  builder.set_arena(arena_bytes);
  payload::QuantizeArgs args = {};
  args.input = builder.input(payload::DType::kFloat32, {sizes[0], sizes[1], sizes[2], sizes[3]});
  args.output = builder.output(payload::DType::kInt8, {sizes[0], sizes[1], sizes[2], sizes[3]});
  args.batch = 1;
  args.channels = 1;
  args.pixels = sizes[0] * sizes[1] * sizes[2] * sizes[3];
  args.inverse_scale = 16.0f;
  builder.call(payload::Opcode::kQuantize, args);
  AlignedBytes payload = builder.finish();
  auto& tensor = payload.at<payload::IoTensor>(payload.header().header_bytes);
  std::memcpy(tensor.dim_order, order.data(), order.size());
  return payload;
}

class MisuseTest : public ::testing::Test {
 protected:
  static constexpr Sizes kSizes = {1, 3, 2, 2};
  static constexpr Order kOrder = {0, 1, 2, 3};
  static constexpr std::uint32_t kArenaBytes = 64;

  Result<DelegateHandle*> init(FreeableBuffer* processed) {
    BackendInitContext context(&runtime_);
    return backend_.init(context, processed, {});
  }

  Error execute(DelegateHandle* handle, Span<EValue*> arguments) {
    temp_.reset();
    BackendExecutionContext context(nullptr, &temp_);
    return backend_.execute(context, handle, arguments);
  }

  Error execute(DelegateHandle* handle, EValue* input, EValue* output) {
    EValue* arguments[] = {input, output};
    return execute(handle, Span<EValue*>(arguments, 2));
  }

  AlignedBytes payload_ = quantize(kSizes, kOrder, kArenaBytes);
  FreeableBuffer processed_{payload_.data(), payload_.size(), nullptr};
  AlignedBytes runtime_memory_{4096};
  AlignedBytes temp_memory_{kArenaBytes};
  MemoryAllocator runtime_{4096, runtime_memory_.data()};
  MemoryAllocator temp_{kArenaBytes, temp_memory_.data()};
  TestTensor input_{ScalarType::Float, {1, 3, 2, 2}, {0, 1, 2, 3}};
  TestTensor output_{ScalarType::Char, {1, 3, 2, 2}, {0, 1, 2, 3}};
  const CmsisNnBackend backend_{kPortableKernels};
};

TEST_F(MisuseTest, NoPayload) {
  EXPECT_EQ(init(nullptr).error(), Error::InvalidArgument);
  FreeableBuffer empty;
  EXPECT_EQ(init(&empty).error(), Error::InvalidArgument);
  FreeableBuffer null_data(nullptr, payload_.size(), nullptr);
  EXPECT_EQ(init(&null_data).error(), Error::InvalidArgument);
  processed_.Free();
  EXPECT_EQ(init(&processed_).error(), Error::InvalidArgument);
  // An address on another core, which data() would abort for.
  FreeableBuffer remote(std::uint64_t{64}, payload_.size(), nullptr);
  EXPECT_EQ(init(&remote).error(), Error::InvalidArgument);
  EXPECT_EQ(runtime_.used_size(), 0u);
}

TEST_F(MisuseTest, NoHandle) {
  EXPECT_EQ(execute(nullptr, input_.value(), output_.value()), Error::InvalidArgument);
  backend_.destroy(nullptr);
}

TEST_F(MisuseTest, NoTensor) {
  const auto handle = init(&processed_);
  ASSERT_TRUE(handle.ok());
  ASSERT_EQ(execute(*handle, input_.value(), output_.value()), Error::Ok);

  EValue none;
  EValue integer(std::int64_t{3});
  EValue without_implementation{Tensor(nullptr)};
  for (EValue* wrong : {static_cast<EValue*>(nullptr), &none, &integer, &without_implementation}) {
    EXPECT_EQ(execute(*handle, wrong, output_.value()), Error::InvalidArgument);
    EXPECT_EQ(execute(*handle, input_.value(), wrong), Error::InvalidArgument);
  }
  EXPECT_EQ(execute(*handle, Span<EValue*>()), Error::InvalidArgument);
  EXPECT_EQ(execute(*handle, input_.value(), output_.value()), Error::Ok);
}

TEST_F(MisuseTest, NoDimensionOrder) {
#ifndef NDEBUG
  GTEST_SKIP() << "ExecuTorch's own assertion ends a debug build: run it with -c opt";
#endif
  const auto handle = init(&processed_);
  ASSERT_TRUE(handle.ok());
  std::int32_t sizes[] = {1, 3, 2, 2};
  TensorImpl impl(ScalarType::Float, 4, sizes, input_.data<float>());
  EValue value{Tensor(&impl)};
  EXPECT_EQ(execute(*handle, &value, output_.value()), Error::InvalidArgument);
}

// ExecuTorch's runtime has no use for the method allocator after loading, and a caller may end it then.
TEST_F(MisuseTest, NothingIsTakenFromTheRuntimeAllocatorAfterInit) {
  DelegateHandle* handle = nullptr;
  {
    MemoryAllocator gone(4096, runtime_memory_.data());
    BackendInitContext context(&gone);
    const auto result = backend_.init(context, &processed_, {});
    ASSERT_TRUE(result.ok());
    handle = *result;
    std::memset(static_cast<void*>(&gone), 0xA5, sizeof(gone));
    new (&gone) MemoryAllocator(0, nullptr);
  }
  EXPECT_EQ(execute(handle, input_.value(), output_.value()), Error::Ok);
  EValue* arguments[] = {input_.value(), output_.value()};
  BackendExecutionContext no_temp_allocator;
  EXPECT_EQ(backend_.execute(no_temp_allocator, handle, Span<EValue*>(arguments, 2)),
            Error::MemoryAllocationFailed);
}

TEST_F(MisuseTest, WithoutATempAllocatorTheArenaMustBeTakenAtInit) {
  const CmsisNnBackend eager(kPortableKernels, Config{false, true});
  BackendInitContext context(&runtime_);
  const auto handle = eager.init(context, &processed_, {});
  ASSERT_TRUE(handle.ok());
  const std::size_t used = runtime_.used_size();
  EXPECT_GE(used, kHandleBytes + kArenaBytes);
  EValue* arguments[] = {input_.value(), output_.value()};
  BackendExecutionContext no_temp_allocator;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(eager.execute(no_temp_allocator, *handle, Span<EValue*>(arguments, 2)), Error::Ok);
  }
  EXPECT_EQ(runtime_.used_size(), used);
}

TEST_F(MisuseTest, WithoutAnArenaNoAllocatorIsNeeded) {
  AlignedBytes payload = quantize(kSizes, kOrder, 0);
  FreeableBuffer processed(payload.data(), payload.size(), nullptr);
  const auto handle = init(&processed);
  ASSERT_TRUE(handle.ok());
  EValue* arguments[] = {input_.value(), output_.value()};
  BackendExecutionContext no_temp_allocator;
  EXPECT_EQ(backend_.execute(no_temp_allocator, *handle, Span<EValue*>(arguments, 2)), Error::Ok);
}

/// The distance between elements of each dimension; 0 where there is but one element.
Sizes strides(const Sizes& sizes, const Order& order) {
  Sizes strides = {};
  std::int32_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = sizes[order[i]] == 1 ? 0 : stride;
    stride *= sizes[order[i]];
  }
  return strides;
}

bool is_permutation(const Order& order) {
  unsigned seen = 0;
  for (const std::uint8_t dimension : order) {
    seen |= 1u << dimension;
  }
  return seen == 0xFu;
}

/// Which of the four dimensions have one element, as bits.
class DimensionOrderTest : public MisuseTest, public ::testing::WithParamInterface<unsigned> {};

// Every four dimensions in the place of a dimension order, against two orders of the payload: taken are
// permutations that put each element where the payload has it, and no others.
TEST_P(DimensionOrderTest, OnlyPermutationsWithTheSamePlaces) {
  Sizes sizes = {};
  for (unsigned i = 0; i < 4; ++i) {
    sizes[i] = (GetParam() >> i & 1u) != 0 ? 1 : static_cast<std::int32_t>(i) + 2;
  }
  const std::vector<std::int32_t> shape(sizes.begin(), sizes.end());
  TestTensor output(ScalarType::Char, shape, {0, 1, 2, 3});
  for (const Order& expected : {Order{0, 1, 2, 3}, Order{0, 2, 3, 1}}) {
    AlignedBytes payload = quantize(sizes, expected, 0);
    FreeableBuffer processed(payload.data(), payload.size(), nullptr);
    const auto handle = init(&processed);
    ASSERT_TRUE(handle.ok());
    unsigned taken = 0;
    for (unsigned code = 0; code < 256; ++code) {
      const Order given = {
          static_cast<std::uint8_t>(code & 3), static_cast<std::uint8_t>(code >> 2 & 3),
          static_cast<std::uint8_t>(code >> 4 & 3), static_cast<std::uint8_t>(code >> 6)};
      const bool same = is_permutation(given) && strides(sizes, given) == strides(sizes, expected);
      TestTensor input(ScalarType::Float, shape, {given[0], given[1], given[2], given[3]});
      EXPECT_EQ(execute(*handle, input.value(), output.value()),
                same ? Error::Ok : Error::InvalidArgument)
          << ::testing::PrintToString(given) << " for " << ::testing::PrintToString(expected);
      taken += same ? 1 : 0;
    }
    EXPECT_GE(taken, 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(WhichSizesAreOne, DimensionOrderTest, ::testing::Range(0u, 16u));

}  // namespace
}  // namespace cmsis_nn_delegate
