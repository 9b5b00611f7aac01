#include "runtime/backend/cmsis_nn_backend.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/runtime/core/event_tracer.h>

#include "runtime/backend/register.h"
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
using executorch::runtime::EventTracer;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::etensor::ScalarType;
using executorch::runtime::etensor::Tensor;
using testing::AlignedBytes;
using testing::TestTensor;

/// The network of testing::small_network() with its arguments and pools.
class BackendTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kArenaBytes = 640;

  BackendTest() {
    for (int i = 0; i < 108; ++i) {
      image_.data<float>()[i] = static_cast<float>((i * 29) % 97) / 24.0f - 2.0f;
    }
  }

  Result<DelegateHandle*> init(const CmsisNnBackend& backend, MemoryAllocator& allocator) {
    BackendInitContext context(&allocator);
    return backend.init(context, &processed_, {});
  }

  Error execute(const CmsisNnBackend& backend, DelegateHandle* handle, MemoryAllocator* temp,
                EventTracer* tracer = nullptr) {
    EValue* arguments[] = {image_.value(), scores_.value(), logits_.value()};
    BackendExecutionContext context(tracer, temp);
    return backend.execute(context, handle, Span<EValue*>(arguments, 3));
  }

  /// Both outputs, as bytes.
  std::vector<std::uint8_t> outputs() {
    std::vector<std::uint8_t> bytes(5 + 20);
    std::memcpy(bytes.data(), scores_.data<std::uint8_t>(), 5);
    std::memcpy(bytes.data() + 5, logits_.data<std::uint8_t>(), 20);
    std::memset(scores_.data<std::uint8_t>(), 0x55, 5);
    std::memset(logits_.data<std::uint8_t>(), 0x55, 20);
    return bytes;
  }

  AlignedBytes payload_ = testing::small_network();
  FreeableBuffer processed_{payload_.data(), payload_.size(), nullptr};
  TestTensor image_{ScalarType::Float, {1, 3, 6, 6}, {0, 1, 2, 3}};
  TestTensor scores_{ScalarType::Char, {1, 5}, {0, 1}};
  TestTensor logits_{ScalarType::Float, {1, 5}, {0, 1}};
  AlignedBytes runtime_memory_{2048};
  AlignedBytes temp_memory_{2048};
  MemoryAllocator runtime_{2048, runtime_memory_.data()};
  MemoryAllocator temp_{2048, temp_memory_.data()};
  const CmsisNnBackend backend_{kPortableKernels};
};

TEST_F(BackendTest, ArenaFromTheTempAllocator) {
  EXPECT_TRUE(backend_.is_available());
  const auto handle = init(backend_, runtime_);
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(runtime_.used_size(), kHandleBytes);
  ASSERT_EQ(execute(backend_, *handle, &temp_), Error::Ok);
  EXPECT_EQ(temp_.used_size(), kArenaBytes);
  EXPECT_EQ(runtime_.used_size(), kHandleBytes);
  // The logits are the scores' input: their order agrees, and they are not all equal.
  const float* logits = logits_.data<float>();
  const std::int8_t* scores = scores_.data<std::int8_t>();
  bool differ = false;
  int sum = 0;
  for (int i = 0; i < 5; ++i) {
    sum += scores[i] + 128;
    for (int j = 0; j < 5; ++j) {
      differ |= logits[i] != logits[j];
      if (scores[i] > scores[j]) {
        EXPECT_GT(logits[i], logits[j]);
      }
    }
  }
  EXPECT_TRUE(differ);
  EXPECT_NEAR(sum, 256, 5);
  backend_.destroy(*handle);
}

TEST_F(BackendTest, SameResultWhereverTheArenaIs) {
  const auto handle = init(backend_, runtime_);
  ASSERT_TRUE(handle.ok());
  ASSERT_EQ(execute(backend_, *handle, &temp_), Error::Ok);
  const std::vector<std::uint8_t> expected = outputs();

  // At init.
  runtime_.reset();
  const CmsisNnBackend eager(kPortableKernels, Config{false, true});
  const auto second = init(eager, runtime_);
  ASSERT_TRUE(second.ok());
  const std::size_t used = runtime_.used_size();
  EXPECT_GE(used, kHandleBytes + kArenaBytes);
  temp_.reset();
  ASSERT_EQ(execute(eager, *second, &temp_), Error::Ok);
  EXPECT_EQ(outputs(), expected);
  EXPECT_EQ(temp_.used_size(), 0u);
  EXPECT_EQ(runtime_.used_size(), used);
}

TEST_F(BackendTest, SameResultWithRegionsBesideTheArena) {
  const auto plain = init(backend_, runtime_);
  ASSERT_TRUE(plain.ok());
  ASSERT_EQ(execute(backend_, *plain, &temp_), Error::Ok);
  const std::vector<std::uint8_t> expected = outputs();

  payload_ = testing::small_network_in_regions();
  FreeableBuffer processed(payload_.data(), payload_.size(), nullptr);
  BackendInitContext context(&runtime_);
  // The sanitizers see every access past them.
  AlignedBytes first(testing::kSmallRegions[0]);
  AlignedBytes second(testing::kSmallRegions[1]);
  using Regions = std::vector<MemoryRegion>;
  const Regions enough = {{first.data(), first.size()}, {second.data(), second.size()}};
  const auto init_with = [&](const Regions& regions) {
    const CmsisNnBackend backend(kPortableKernels,
                                 Config{false, false, regions.data(), regions.size()});
    return backend.init(context, &processed, {}).error();
  };
  for (const Regions& regions :
       {Regions{}, Regions{enough[0]}, Regions{enough[1], {first.data(), first.size()}},
        Regions{{first.data(), first.size() - 1}, enough[1]},
        Regions{{first.data() + 8, first.size()}, enough[1]},
        Regions{enough[0], {nullptr, second.size()}}}) {
    EXPECT_EQ(init_with(regions), Error::MemoryAllocationFailed);
  }
  const CmsisNnBackend backend(kPortableKernels,
                               Config{false, false, enough.data(), enough.size()});
  const auto handle = backend.init(context, &processed, {});
  ASSERT_TRUE(handle.ok());
  for (const int fill : {0x00, 0xFF, 0x3C}) {
    std::memset(first.data(), fill, first.size());
    std::memset(second.data(), fill, second.size());
    temp_.reset();
    ASSERT_EQ(execute(backend, *handle, &temp_), Error::Ok);
    EXPECT_EQ(outputs(), expected);
    EXPECT_NE(std::vector<std::uint8_t>(first.data(), first.data() + first.size()),
              std::vector<std::uint8_t>(first.size(), static_cast<std::uint8_t>(fill)));
  }
}

TEST_F(BackendTest, CallsReadTheCopiesOfConstants) {
  const auto plain = init(backend_, runtime_);
  ASSERT_TRUE(plain.ok());
  ASSERT_EQ(execute(backend_, *plain, &temp_), Error::Ok);
  const std::vector<std::uint8_t> expected = outputs();

  payload_ = testing::small_network_with_copies();
  const payload::Header& header = payload_.header();
  const std::size_t bytes = payload::kStateOffset + header.copied_bytes;
  FreeableBuffer processed(payload_.data(), payload_.size(), nullptr);
  // The sanitizers see every access past them.
  AlignedBytes fast(bytes);
  MemoryAllocator state(static_cast<std::uint32_t>(bytes), fast.data());
  MemoryAllocator small(static_cast<std::uint32_t>(bytes - 1), fast.data());
  MemoryAllocator none(0, nullptr);
  BackendInitContext context(&none);
  const auto init_with = [&](MemoryAllocator* allocator) {
    const CmsisNnBackend backend(kPortableKernels, Config{false, false, nullptr, 0, allocator});
    return backend.init(context, &processed, {});
  };
  EXPECT_EQ(init_with(nullptr).error(), Error::MemoryAllocationFailed);
  EXPECT_EQ(init_with(&small).error(), Error::MemoryAllocationFailed);
  const auto handle = init_with(&state);
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(std::memcmp(fast.data() + payload::kStateOffset,
                        payload_.data() + header.constants_offset, header.copied_bytes),
            0);
  // From here on the constants of the payload are not read; reset() leaves the copies alone.
  std::memset(payload_.data() + header.constants_offset, 0x77, header.copied_bytes);
  for (int run = 0; run < 2; ++run) {
    temp_.reset();
    ASSERT_EQ(execute(backend_, *handle, &temp_), Error::Ok);
    EXPECT_EQ(outputs(), expected);
    ASSERT_EQ(backend_.reset(*handle), Error::Ok);
  }
  // What calls read is the copy.
  std::memset(fast.data() + payload::kStateOffset, 0x77, header.copied_bytes);
  temp_.reset();
  ASSERT_EQ(execute(backend_, *handle, &temp_), Error::Ok);
  EXPECT_NE(outputs(), expected);
}

TEST_F(BackendTest, OldContentsOfTheArenaDoNotMatter) {
  const auto handle = init(backend_, runtime_);
  std::vector<std::uint8_t> expected;
  for (const int fill : {0x00, 0xFF, 0x80, 0x3C}) {
    std::memset(temp_memory_.data(), fill, temp_memory_.size());
    temp_.reset();
    ASSERT_EQ(execute(backend_, *handle, &temp_), Error::Ok);
    const std::vector<std::uint8_t> result = outputs();
    EXPECT_TRUE(expected.empty() || result == expected);
    expected = result;
  }
}

TEST_F(BackendTest, PayloadAndInputsStayUnchanged) {
  const AlignedBytes payload = payload_;
  const std::vector<float> image(image_.data<float>(), image_.data<float>() + 108);
  const auto handle = init(backend_, runtime_);
  ASSERT_EQ(execute(backend_, *handle, &temp_), Error::Ok);
  EXPECT_EQ(std::memcmp(payload.data(), payload_.data(), payload.size()), 0);
  EXPECT_TRUE(std::equal(image.begin(), image.end(), image_.data<float>()));
}

TEST_F(BackendTest, TheBufferIsNotFreed) {
  static int freed;
  freed = 0;
  FreeableBuffer buffer(payload_.data(), payload_.size(), [](void*, void*, size_t) { ++freed; });
  BackendInitContext context(&runtime_);
  const auto handle = backend_.init(context, &buffer, {});
  ASSERT_TRUE(handle.ok());
  ASSERT_EQ(execute(backend_, *handle, &temp_), Error::Ok);
  EXPECT_EQ(freed, 0);
  backend_.destroy(*handle);
  backend_.destroy(nullptr);
}

TEST_F(BackendTest, NotEnoughMemory) {
  MemoryAllocator nothing(kHandleBytes - 1, runtime_memory_.data());
  EXPECT_EQ(init(backend_, nothing).error(), Error::MemoryAllocationFailed);
  BackendInitContext no_allocator(nullptr);
  EXPECT_EQ(backend_.init(no_allocator, &processed_, {}).error(), Error::MemoryAllocationFailed);

  MemoryAllocator handle_only(kHandleBytes + kArenaBytes - 1, runtime_memory_.data());
  const CmsisNnBackend eager(kPortableKernels, Config{false, true});
  EXPECT_EQ(init(eager, handle_only).error(), Error::MemoryAllocationFailed);

  handle_only.reset();
  const auto handle = init(backend_, handle_only);
  ASSERT_TRUE(handle.ok());
  MemoryAllocator small(kArenaBytes - 1, temp_memory_.data());
  EXPECT_EQ(execute(backend_, *handle, &small), Error::MemoryAllocationFailed);
  // With enough memory the same handle works.
  EXPECT_EQ(execute(backend_, *handle, &temp_), Error::Ok);
}

TEST_F(BackendTest, RefusesDamagedAndForeignPayloads) {
  payload_.header().isa = 99;
  EXPECT_EQ(init(backend_, runtime_).error(), Error::DelegateInvalidCompatibility);
  payload_.header().isa = 0;
  FreeableBuffer truncated(payload_.data(), payload_.size() - 1, nullptr);
  BackendInitContext context(&runtime_);
  EXPECT_EQ(backend_.init(context, &truncated, {}).error(), Error::InvalidProgram);
  EXPECT_EQ(runtime_.used_size(), 0u);  // nothing was taken
}

TEST_F(BackendTest, CrcIsAnOption) {
  const CmsisNnBackend careful(kPortableKernels, Config{true, false});
  EXPECT_TRUE(init(careful, runtime_).ok());
  payload_.data()[payload_.size() - 20] ^= 1;  // a weight
  EXPECT_EQ(init(careful, runtime_).error(), Error::InvalidProgram);
  EXPECT_TRUE(init(backend_, runtime_).ok());
}

TEST_F(BackendTest, WrongArguments) {
  const auto handle = init(backend_, runtime_);
  ASSERT_TRUE(handle.ok());
  const auto execute_with = [&](std::vector<EValue*> arguments) {
    temp_.reset();
    BackendExecutionContext context(nullptr, &temp_);
    return backend_.execute(context, *handle, Span<EValue*>(arguments.data(), arguments.size()));
  };
  EValue* const image = image_.value();
  EValue* const scores = scores_.value();
  EValue* const logits = logits_.value();
  EXPECT_EQ(execute_with({image, scores, logits}), Error::Ok);
  EXPECT_EQ(execute_with({}), Error::InvalidArgument);
  EXPECT_EQ(execute_with({image, scores}), Error::InvalidArgument);
  EXPECT_EQ(execute_with({image, scores, logits, logits}), Error::InvalidArgument);
  EXPECT_EQ(execute_with({image, logits, scores}), Error::InvalidArgument);

  EValue integer(std::int64_t{3});
  EXPECT_EQ(execute_with({&integer, scores, logits}), Error::InvalidArgument);
  TestTensor bytes(ScalarType::Char, {1, 3, 6, 6}, {0, 1, 2, 3});
  EXPECT_EQ(execute_with({bytes.value(), scores, logits}), Error::InvalidArgument);
  TestTensor doubles(ScalarType::Double, {1, 3, 6, 6}, {0, 1, 2, 3});
  EXPECT_EQ(execute_with({doubles.value(), scores, logits}), Error::InvalidArgument);
  TestTensor shape(ScalarType::Float, {1, 3, 6, 5}, {0, 1, 2, 3});
  EXPECT_EQ(execute_with({shape.value(), scores, logits}), Error::InvalidArgument);
  TestTensor rank(ScalarType::Float, {3, 6, 6}, {0, 1, 2});
  EXPECT_EQ(execute_with({rank.value(), scores, logits}), Error::InvalidArgument);
  TestTensor order(ScalarType::Float, {1, 3, 6, 6}, {0, 2, 3, 1});
  EXPECT_EQ(execute_with({order.value(), scores, logits}), Error::InvalidArgument);
  TestTensor no_order(ScalarType::Float, {1, 3, 6, 6}, {0, 1, 2, 9});
  EXPECT_EQ(execute_with({no_order.value(), scores, logits}), Error::InvalidArgument);
  // The batch of 1 may stand anywhere, the others not.
  TestTensor batch_last(ScalarType::Float, {1, 3, 6, 6}, {1, 2, 3, 0});
  EXPECT_EQ(execute_with({batch_last.value(), scores, logits}), Error::Ok);
  TestTensor batch_inside(ScalarType::Float, {1, 3, 6, 6}, {1, 0, 3, 2});
  EXPECT_EQ(execute_with({batch_inside.value(), scores, logits}), Error::InvalidArgument);
  TestTensor row(ScalarType::Char, {1, 5}, {1, 0});
  EXPECT_EQ(execute_with({image, row.value(), logits}), Error::Ok);

  image_.move_data(2);
  EXPECT_EQ(execute_with({image, scores, logits}), Error::InvalidArgument);
  image_.move_data(4);
  EXPECT_EQ(execute_with({image, scores, logits}), Error::Ok);
  scores_.move_data(3);  // bytes may lie anywhere
  EXPECT_EQ(execute_with({image, scores, logits}), Error::Ok);
  logits_.drop_data();
  EXPECT_EQ(execute_with({image, scores, logits}), Error::InvalidArgument);
}

TEST_F(BackendTest, AKernelsErrorEndsTheExecution) {
  static int calls;
  calls = 0;
  Kernel add = portable::kAdd;
  add.run = [](const void*, const Bases&) {
    ++calls;
    return Error::NotSupported;
  };
  Kernel softmax = portable::kSoftmax;
  softmax.run = [](const void*, const Bases&) {
    ++calls;
    return Error::Ok;
  };
  const KernelTable table = kPortableKernels.with(add).with(softmax);
  const CmsisNnBackend backend(table);
  const auto handle = init(backend, runtime_);
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(execute(backend, *handle, &temp_), Error::NotSupported);
  EXPECT_EQ(calls, 1);
}

/// Records delegate events.
class RecordingTracer final : public EventTracer {
 public:
  std::vector<std::int64_t> started;
  std::vector<std::int64_t> ended;

  executorch::runtime::EventTracerEntry start_profiling_delegate(
      const char* name, executorch::runtime::DelegateDebugIntId id) override {
    EXPECT_EQ(name, nullptr);  // numeric ids only
    started.push_back(id);
    executorch::runtime::EventTracerEntry entry = {};
    entry.event_id = id;
    return entry;
  }
  void end_profiling_delegate(executorch::runtime::EventTracerEntry entry, const void*,
                              size_t) override {
    ended.push_back(entry.event_id);
  }
  void create_event_block(const char*) override {}
  executorch::runtime::EventTracerEntry start_profiling(const char*, executorch::runtime::ChainID,
                                                        executorch::runtime::DebugHandle) override {
    return {};
  }
  void log_profiling_delegate(const char*, executorch::runtime::DelegateDebugIntId, et_timestamp_t,
                              et_timestamp_t, const void*, size_t) override {}
  void end_profiling(executorch::runtime::EventTracerEntry) override {}
  void track_allocation(executorch::runtime::AllocatorID, size_t) override {}
  executorch::runtime::AllocatorID track_allocator(const char*) override { return 0; }
  Result<bool> log_evalue(const EValue&, executorch::runtime::LoggedEValueType) override {
    return false;
  }
  using Id = executorch::runtime::DelegateDebugIntId;
  Result<bool> log_intermediate_output_delegate(const char*, Id, const Tensor&) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(
      const char*, Id, const executorch::runtime::ArrayRef<Tensor>) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(const char*, Id, const int&) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(const char*, Id, const bool&) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(const char*, Id, const double&) override {
    return false;
  }
  void set_delegation_intermediate_output_filter(
      executorch::runtime::EventTracerFilterBase*) override {}
};

TEST_F(BackendTest, AnEventPerCall) {
  RecordingTracer tracer;
  const auto handle = init(backend_, runtime_);
  ASSERT_EQ(execute(backend_, *handle, &temp_, &tracer), Error::Ok);
  std::vector<std::int64_t> indices(payload_.header().call_count);
  std::iota(indices.begin(), indices.end(), 0);
  EXPECT_EQ(tracer.started, indices);
  EXPECT_EQ(tracer.ended, indices);
}

TEST_F(BackendTest, ManyHandlesShareATempAllocator) {
  const auto first = init(backend_, runtime_);
  const auto second = init(backend_, runtime_);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(runtime_.used_size(), 2 * kHandleBytes);
  ASSERT_EQ(execute(backend_, *first, &temp_), Error::Ok);
  const auto expected = outputs();
  temp_.reset();
  ASSERT_EQ(execute(backend_, *second, &temp_), Error::Ok);
  EXPECT_EQ(outputs(), expected);
}

/// A payload that returns its last input: `initial` at first.
AlignedBytes delay_of_one(std::int8_t initial) {
  testing::PayloadBuilder builder;
  const payload::Ref input = builder.input(payload::DType::kInt8, {1, 4});
  const payload::Ref output = builder.output(payload::DType::kInt8, {1, 4});
  const payload::Ref state = testing::make_ref(payload::kBaseIo + 2);
  const payload::Ref first = builder.constant<std::int8_t>({initial});
  builder.call(payload::Opcode::kRecall, payload::RecallArgs{state, output, first, 4, 1});
  builder.call(payload::Opcode::kKeep, payload::KeepArgs{input, state, first, 4, 1});
  AlignedBytes bytes = builder.finish();
  bytes.header().persistent_bytes = 16;
  return bytes;
}

/// A loaded delay_of_one().
class Delay {
 public:
  Delay(const CmsisNnBackend& backend, MemoryAllocator& runtime) : backend_(backend) {
    BackendInitContext context(&runtime);
    const auto handle = backend_.init(context, &processed_, {});
    EXPECT_TRUE(handle.ok());
    handle_ = *handle;
  }

  /// The first element of the output for an input that is `value` everywhere.
  int operator()(std::int8_t value) {
    std::memset(input_.data<std::int8_t>(), value, 4);
    EValue* arguments[] = {input_.value(), output_.value()};
    BackendExecutionContext context(nullptr, nullptr);
    EXPECT_EQ(backend_.execute(context, handle_, Span<EValue*>(arguments, 2)), Error::Ok);
    return *output_.data<std::int8_t>();
  }

 private:
  const CmsisNnBackend& backend_;
  AlignedBytes payload_ = delay_of_one(-3);
  FreeableBuffer processed_{payload_.data(), payload_.size(), nullptr};
  DelegateHandle* handle_ = nullptr;
  TestTensor input_{ScalarType::Char, {1, 4}, {0, 1}};
  TestTensor output_{ScalarType::Char, {1, 4}, {0, 1}};
};

using executorch::runtime::BackendOption;
using executorch::runtime::BackendOptionContext;
using executorch::runtime::BackendOptions;

Error set(RegisteredBackend& backend, Span<BackendOption> options) {
  BackendOptionContext context;
  return backend.set_option(context, options);
}

TEST_F(BackendTest, AnOptionResetsTheStatesOfAllHandlesOnce) {
  RegisteredBackend backend(kPortableKernels);
  BackendOptions<1> reset;
  ASSERT_EQ(reset.set_option(kResetOption, true), Error::Ok);
  Delay first(backend, runtime_);
  Delay second(backend, runtime_);
  EXPECT_EQ(first(1), -3);
  EXPECT_EQ(first(2), 1);
  EXPECT_EQ(second(5), -3);
  ASSERT_EQ(set(backend, reset.view()), Error::Ok);
  EXPECT_EQ(first(3), -3);
  EXPECT_EQ(first(4), 3);
  // One that was not run in the meantime misses none, and sees two as one.
  ASSERT_EQ(set(backend, reset.view()), Error::Ok);
  EXPECT_EQ(second(6), -3);
  EXPECT_EQ(second(7), 6);
  // A handle that is made later has seen those before it.
  Delay third(backend, runtime_);
  EXPECT_EQ(third(8), -3);
  EXPECT_EQ(third(9), 8);
  EXPECT_EQ(first(4), -3);
  BackendOptions<1> no_reset;
  ASSERT_EQ(no_reset.set_option(kResetOption, false), Error::Ok);
  ASSERT_EQ(set(backend, no_reset.view()), Error::Ok);
  EXPECT_EQ(first(5), 4);
}

TEST_F(BackendTest, TheCountOfResetsIsNoArena) {
  static const void* arena;
  arena = &arena;
  Kernel recall = portable::kRecall;
  recall.run = [](const void*, const Bases& bases) {
    arena = bases[payload::kBaseArena];
    return Error::Ok;
  };
  const KernelTable table = kPortableKernels.with(recall);
  RegisteredBackend backend(table);
  BackendOptions<1> reset;
  ASSERT_EQ(reset.set_option(kResetOption, true), Error::Ok);
  ASSERT_EQ(set(backend, reset.view()), Error::Ok);
  Delay delay(backend, runtime_);  // which needs no arena
  delay(1);
  EXPECT_EQ(arena, nullptr);
}

TEST_F(BackendTest, OptionsThatAreNone) {
  RegisteredBackend backend(kPortableKernels);
  Delay delay(backend, runtime_);
  delay(1);
  BackendOptions<2> options;
  ASSERT_EQ(options.set_option(kResetOption, true), Error::Ok);
  ASSERT_EQ(options.set_option("resets", true), Error::Ok);
  EXPECT_EQ(set(backend, options.view()), Error::InvalidArgument);
  BackendOptions<1> number;
  ASSERT_EQ(number.set_option(kResetOption, 1), Error::Ok);
  EXPECT_EQ(set(backend, number.view()), Error::InvalidArgument);
  EXPECT_EQ(delay(2), 1);  // the first option alone was right, and did nothing
  EXPECT_EQ(set(backend, {}), Error::Ok);
}

TEST_F(BackendTest, NoRoomToCountResets) {
  RegisteredBackend eager(kPortableKernels, Config{false, true});
  BackendOptions<1> reset;
  ASSERT_EQ(reset.set_option(kResetOption, true), Error::Ok);
  EXPECT_EQ(set(eager, reset.view()), sizeof(void*) == 8 ? Error::NotSupported : Error::Ok);
}

TEST(RegisterBackend, OnceAndUnderItsName) {
  ASSERT_EQ(register_cmsis_nn_backend(kPortableKernels), Error::Ok);
  const auto* backend = executorch::runtime::get_backend_class("CmsisNnBackend");
  ASSERT_NE(backend, nullptr);
  EXPECT_TRUE(backend->is_available());
  EXPECT_EQ(register_cmsis_nn_backend(kPortableKernels), Error::InvalidArgument);

  // Options reach it by its name.
  AlignedBytes memory(256);
  MemoryAllocator runtime(256, memory.data());
  Delay delay(*static_cast<const CmsisNnBackend*>(backend), runtime);
  delay(1);
  BackendOptions<1> reset;
  ASSERT_EQ(reset.set_option(kResetOption, true), Error::Ok);
  ASSERT_EQ(executorch::runtime::set_option(kBackendId, reset.view()), Error::Ok);
  EXPECT_EQ(delay(2), -3);
}

}  // namespace
}  // namespace cmsis_nn_delegate
