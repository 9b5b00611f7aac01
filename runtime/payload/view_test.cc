#include "runtime/payload/view.h"

#include <functional>

#include <gtest/gtest.h>

#include "runtime/kernels/portable/portable.h"
#include "tests/payloads/payload_builder.h"

namespace cmsis_nn_delegate {
namespace {

using executorch::runtime::Error;
using payload::Header;
using payload::IoTensor;
using testing::AlignedBytes;
using testing::small_network;

Error open(const AlignedBytes& bytes, std::size_t size) {
  return PayloadView::open(bytes.data(), size, kPortableKernels).error();
}
Error open(const AlignedBytes& bytes) { return open(bytes, bytes.size()); }

/// The error after `change` to a valid payload.
Error open_with(const std::function<void(AlignedBytes&)>& change) {
  AlignedBytes bytes = small_network();
  change(bytes);
  return open(bytes);
}

TEST(PayloadView, OpensAValidPayload) {
  const AlignedBytes bytes = small_network();
  const auto view = PayloadView::open(bytes.data(), bytes.size(), kPortableKernels);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->data(), bytes.data());
  EXPECT_EQ(view->tensor_count(), 3u);
  EXPECT_EQ(view->tensors()[0].nbytes, 3u * 6 * 6 * 4);
}

TEST(PayloadView, CallsInOrder) {
  AlignedBytes bytes = small_network();
  const PayloadView view(bytes.header());
  std::uint32_t offset = view.header().calls_offset;
  std::uint32_t count = 0;
  for (const Call& call : view.calls()) {
    EXPECT_EQ(static_cast<const void*>(&call), view.data() + offset);
    EXPECT_EQ(call.args(), view.data() + offset + sizeof(payload::CallHeader));
    offset += call.bytes;
    ++count;
  }
  EXPECT_EQ(offset, view.header().calls_offset + view.header().calls_bytes);
  EXPECT_EQ(count, view.header().call_count);
}

TEST(PayloadView, BytesAfterThePayloadDoNotMatter) {
  AlignedBytes bytes = small_network();
  AlignedBytes longer(bytes.size() + 7);
  std::memcpy(longer.data(), bytes.data(), bytes.size());
  EXPECT_EQ(open(longer), Error::Ok);
}

TEST(PayloadView, TruncatedAtEveryByte) {
  const AlignedBytes whole = small_network();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ASSERT_EQ(open(whole, size), Error::InvalidProgram) << size << " bytes";
  }
  // A null pointer has no header, whatever the size says.
  for (const std::size_t size : {std::size_t{0}, sizeof(Header), whole.size()}) {
    EXPECT_EQ(PayloadView::open(nullptr, size, kPortableKernels).error(), Error::InvalidProgram);
  }
}

TEST(PayloadView, AHeaderAloneSaysWhatThePayloadWasMadeFor) {
  AlignedBytes bytes = small_network();
  bytes.header().format_version += 1;
  EXPECT_EQ(open(bytes, sizeof(Header)), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(open(bytes, sizeof(Header) - 1), Error::InvalidProgram);
}

TEST(PayloadView, TruncationStatedByTheHeader) {
  // A shorter payload that says so itself: the last constant, or a call, is cut.
  for (std::uint32_t size = 0; size < small_network().size(); size += 16) {
    ASSERT_EQ(open_with([&](AlignedBytes& b) { b.header().payload_bytes = size; }),
              Error::InvalidProgram)
        << size;
  }
}

TEST(PayloadView, Unaligned) {
  const AlignedBytes bytes = small_network();
  AlignedBytes moved(bytes.size() + 16);
  for (std::size_t shift = 1; shift < 16; ++shift) {
    std::memcpy(moved.data() + shift, bytes.data(), bytes.size());
    EXPECT_EQ(PayloadView::open(moved.data() + shift, bytes.size(), kPortableKernels).error(),
              Error::InvalidArgument);
  }
}

TEST(PayloadView, MadeForSomethingElse) {
  const auto incompatible = Error::DelegateInvalidCompatibility;
  EXPECT_EQ(open_with([](AlignedBytes& b) { b.header().format_version += 1; }), incompatible);
  for (unsigned bit = 0; bit < 32; ++bit) {
    EXPECT_EQ(open_with([&](AlignedBytes& b) { b.at<std::uint32_t>(sizeof(Header)) ^= 1u << bit; }),
              incompatible);
  }
  for (unsigned provider = 0; provider < payload::kMaxProviders; ++provider) {
    const auto named = static_cast<std::uint8_t>(1u << provider);
    EXPECT_EQ(open_with([&](AlignedBytes& b) { b.header().providers = named; }),
              named == small_network().header().providers ? Error::Ok : incompatible);
  }
  for (const int isa : {3, 7, 8, 255}) {
    EXPECT_EQ(open_with([&](AlignedBytes& b) { b.header().isa = static_cast<std::uint8_t>(isa); }),
              incompatible);
  }
}

TEST(PayloadView, IsaMustBeOneOfTheTable) {
  AlignedBytes bytes = small_network();
  for (unsigned mine = 0; mine < 3; ++mine) {
    Provider provider = portable::kProvider;
    provider.isas = isa_set(static_cast<payload::Isa>(mine));
    const KernelTable table = kPortableKernels.taking(provider);
    for (unsigned theirs = 0; theirs < 3; ++theirs) {
      bytes.header().isa = static_cast<std::uint8_t>(theirs);
      EXPECT_EQ(PayloadView::open(bytes.data(), bytes.size(), table).error(),
                mine == theirs ? Error::Ok : Error::DelegateInvalidCompatibility);
    }
  }
}

TEST(PayloadView, MissingKernel) {
  for (const Operator& op : kOperators) {
    const AlignedBytes bytes = testing::operator_payload(op.opcode);
    const KernelTable table = kPortableKernels.without(op.opcode);
    EXPECT_EQ(PayloadView::open(bytes.data(), bytes.size(), table).error(),
              Error::DelegateInvalidCompatibility);
  }
}

TEST(PayloadView, TablesLeaveOutKernelsOfOtherInstructionSets) {
  // The host accepts payloads for all instruction sets, so only a kernel for none is left out.
  constexpr KernelTable kTable = {
      portable::kProvider,
      {KernelRef(portable::kConv2d).in_images_for(isa_set(payload::Isa::kMve)),
       KernelRef(portable::kSoftmax).in_images_for(0)}};
  EXPECT_EQ(kTable.find(payload::Opcode::kConv2d), &portable::kConv2d);
  EXPECT_EQ(kTable.find(payload::Opcode::kSoftmax), nullptr);
  const AlignedBytes bytes = testing::operator_payload(payload::Opcode::kSoftmax);
  EXPECT_EQ(PayloadView::open(bytes.data(), bytes.size(), kTable).error(),
            Error::DelegateInvalidCompatibility);
}

TEST(PayloadView, JoinedTablesHaveTheKernelsOfBoth) {
  constexpr KernelTable kOne = {portable::kProvider, {portable::kConv2d, portable::kSoftmax}};
  constexpr KernelTable kOther = {portable::kProvider, {portable::kSoftmax, portable::kAdd}};
  constexpr KernelTable kBoth = kOne.joined(kOther);
  for (const Operator& op : kOperators) {
    const Kernel* first = kOne.find(op.opcode);
    EXPECT_EQ(kBoth.find(op.opcode), first != nullptr ? first : kOther.find(op.opcode));
  }
  EXPECT_EQ(kBoth.provider, &portable::kProvider);
}

/// The table of a model with a provider of its own, and one without.
TEST(PayloadView, JoinedTablesAcceptWhatBothAccept) {
  static constexpr std::uint32_t kMore[] = {payload::kPortableRevision, payload::kCmsisNnRevision,
                                            payload::kTunedRevision, 7};
  static constexpr Provider kWider = {"wider", kAcceptedIsas, kMore};
  constexpr KernelTable kOne = {portable::kProvider, {portable::kConv2d}};
  constexpr KernelTable kOther = {kWider, {portable::kAdd}};
  constexpr KernelTable kBoth = kOne.joined(kOther);
  static_assert(kWider.covers(portable::kProvider) && !portable::kProvider.covers(kWider));
  // One that accepts fewer instruction sets decides for both.
  static constexpr Provider kNarrow = {"narrow", isa_set(payload::Isa::kScalar), kRevisions};
  static_assert(kNarrow.covers(portable::kProvider) && !portable::kProvider.covers(kNarrow));
  constexpr KernelTable kScalar = kOne.joined({kNarrow, {portable::kAdd}});
  EXPECT_EQ(kScalar.provider, &kNarrow);
  EXPECT_EQ(kBoth.provider, &kWider);
  constexpr KernelTable kReversed = kOther.joined(kOne);
  EXPECT_EQ(kReversed.provider, &kWider);
  EXPECT_EQ(kBoth.find(payload::Opcode::kConv2d), &portable::kConv2d);
}

/// A state, copied constants, and each input, output and region take one of kMaxIo bases.
TEST(PayloadView, AsManyBasesAsThereAre) {
  for (unsigned regions = payload::kMaxIo - 5; regions <= payload::kMaxIo; ++regions) {
    for (const bool has_state : {false, true}) {
      for (const bool copies : {false, true}) {
        testing::PayloadBuilder builder;
        payload::QuantizeArgs args = {};
        args.input = builder.input(payload::DType::kFloat32, {1, 4});
        args.output = builder.output(payload::DType::kInt8, {1, 4});
        args.batch = args.channels = 1;
        args.pixels = 4;
        args.inverse_scale = 2.0f;
        builder.constant(std::vector<std::int32_t>(4));
        for (unsigned i = 0; i < regions; ++i) {
          builder.region(16);
        }
        builder.call(payload::Opcode::kQuantize, args);
        AlignedBytes bytes = builder.finish();
        bytes.header().persistent_bytes = has_state ? 16 : 0;
        bytes.header().copied_bytes = copies ? 16 : 0;
        const unsigned bases = 2 + regions + (has_state ? 1 : 0) + (copies ? 1 : 0);
        EXPECT_EQ(PayloadView::open(bytes.data(), bytes.size(), kPortableKernels).error(),
                  bases <= payload::kMaxIo ? Error::Ok : Error::InvalidProgram)
            << bases;
      }
    }
  }
}

TEST(PayloadView, EveryHeaderField) {
  const std::pair<const char*, std::function<void(Header&)>> changes[] = {
      {"magic", [](Header& h) { h.magic ^= 1; }},
      {"header_bytes", [](Header& h) { h.header_bytes += 16; }},
      {"input_count", [](Header& h) { h.input_count += 1; }},
      {"too many tensors", [](Header& h) { h.output_count = 200; }},
      {"output_count", [](Header& h) { h.output_count -= 1; }},
      {"payload_bytes larger", [](Header& h) { h.payload_bytes += 16; }},
      {"payload_bytes unaligned", [](Header& h) { h.payload_bytes -= 1; }},
      {"payload_bytes huge", [](Header& h) { h.payload_bytes = 0xFFFFFFF0; }},
      {"arena_bytes unaligned", [](Header& h) { h.arena_bytes += 1; }},
      {"arena_bytes too small", [](Header& h) { h.arena_bytes -= 16; }},
      {"arena_bytes 0", [](Header& h) { h.arena_bytes = 0; }},
      {"persistent_bytes unaligned", [](Header& h) { h.persistent_bytes = 8; }},
      {"persistent_bytes beyond references", [](Header& h) { h.persistent_bytes = 0x10000000; }},
      {"calls_offset in the tensors", [](Header& h) { h.calls_offset -= 16; }},
      {"calls_offset unaligned", [](Header& h) { h.calls_offset += 4; }},
      {"calls_offset past the end", [](Header& h) { h.calls_offset = h.payload_bytes + 16; }},
      {"calls_bytes smaller", [](Header& h) { h.calls_bytes -= 4; }},
      {"calls_bytes larger", [](Header& h) { h.calls_bytes += 4; }},
      {"calls_bytes huge", [](Header& h) { h.calls_bytes = 0xFFFFFFFC; }},
      {"call_count smaller", [](Header& h) { h.call_count -= 1; }},
      {"no calls", [](Header& h) { h.call_count = h.calls_bytes = 0; }},
      {"call_count larger", [](Header& h) { h.call_count += 1; }},
      {"call_count huge", [](Header& h) { h.call_count = 0xFFFFFFFF; }},
      {"constants_offset in the calls", [](Header& h) { h.constants_offset = h.calls_offset; }},
      {"constants_offset later", [](Header& h) { h.constants_offset += 16; }},
      {"constants_offset huge", [](Header& h) { h.constants_offset = 0xFFFFFFF0; }},
      {"constants_bytes smaller", [](Header& h) { h.constants_bytes -= 16; }},
      {"constants_bytes larger", [](Header& h) { h.constants_bytes += 16; }},
      {"constants_bytes huge", [](Header& h) { h.constants_bytes = 0xFFFFFFF0; }},
      {"regions without a size", [](Header& h) { h.region_count = 4; }},
  };
  for (const auto& [what, change] : changes) {
    AlignedBytes bytes = small_network();
    change(bytes.header());
    EXPECT_EQ(open(bytes), Error::InvalidProgram) << what;
  }
}

TEST(PayloadView, Regions) {
  AlignedBytes bytes = testing::small_network_in_regions();
  const auto open_changed = [&](const std::function<void(AlignedBytes&)>& change) {
    AlignedBytes changed = bytes;
    change(changed);
    return open(changed);
  };
  ASSERT_EQ(open(bytes), Error::Ok);
  const PayloadView view(bytes.header());
  EXPECT_EQ(view.region_base(), payload::kBaseIo + 3u);
  EXPECT_EQ(view.region_bytes()[0], testing::kSmallRegions[0]);
  EXPECT_EQ(view.region_bytes()[1], testing::kSmallRegions[1]);
  const std::size_t sizes = view.header().header_bytes + 3 * sizeof(IoTensor);
  const std::pair<const char*, std::function<void(AlignedBytes&)>> changes[] = {
      {"unaligned size", [&](AlignedBytes& b) { b.at<std::uint32_t>(sizes) += 4; }},
      {"the tensor does not fit", [&](AlignedBytes& b) { b.at<std::uint32_t>(sizes) -= 16; }},
      {"the scratch does not fit", [&](AlignedBytes& b) { b.at<std::uint32_t>(sizes + 4) -= 16; }},
      {"size out of reach", [&](AlignedBytes& b) { b.at<std::uint32_t>(sizes) = 1u << 28; }},
      {"a region is missing", [](AlignedBytes& b) { b.header().region_count = 1; }},
      {"no regions", [](AlignedBytes& b) { b.header().region_count = 0; }},
      {"too many regions", [](AlignedBytes& b) { b.header().region_count = 11; }},
      {"a state in their place", [](AlignedBytes& b) { b.header().persistent_bytes = 64; }},
  };
  for (const auto& [what, change] : changes) {
    EXPECT_EQ(open_changed(change), Error::InvalidProgram) << what;
  }
  // A larger one is no mistake.
  EXPECT_EQ(open_changed([&](AlignedBytes& b) { b.at<std::uint32_t>(sizes) += 16; }), Error::Ok);
}

TEST(PayloadView, CopiedConstants) {
  const AlignedBytes bytes = testing::small_network_with_copies();
  ASSERT_EQ(open(bytes), Error::Ok);
  AlignedBytes small = bytes;
  const PayloadView view(small.header());
  EXPECT_EQ(view.copies_base(), payload::kBaseIo + 3u);
  EXPECT_EQ(view.region_base(), payload::kBaseIo + 4u);
  using Conv = payload::Conv2dArgs;
  const auto conv = [](AlignedBytes& b) -> Conv& {
    return *reinterpret_cast<Conv*>(testing::find_args(b, payload::Opcode::kConv2d));
  };
  const std::uint32_t copied = small.header().copied_bytes;
  const std::pair<const char*, std::function<void(AlignedBytes&)>> changes[] = {
      {"unaligned size", [](AlignedBytes& b) { b.header().copied_bytes += 8; }},
      {"fewer than calls use", [](AlignedBytes& b) { b.header().copied_bytes -= 16; }},
      {"no copies", [](AlignedBytes& b) { b.header().copied_bytes = 0; }},
      {"more than there are",
       [](AlignedBytes& b) { b.header().copied_bytes = b.header().constants_bytes + 16; }},
      {"size beyond references", [](AlignedBytes& b) { b.header().copied_bytes = 0xFFFFFFF0; }},
      {"a state in their place", [](AlignedBytes& b) { b.header().persistent_bytes = 64; }},
      {"a filter past their end", [&](AlignedBytes& b) { conv(b).filter += copied - 32; }},
      {"an output", [&](AlignedBytes& b) { conv(b).output = conv(b).filter; }},
      {"scratch memory", [&](AlignedBytes& b) { conv(b).scratch = conv(b).filter; }},
      // What is checked of values is checked in the payload, from which they are copied.
      {"a multiplier out of range",
       [&](AlignedBytes& b) {
         const std::uint32_t offset = conv(b).multiplier & payload::kMaxRefOffset;
         b.at<std::int32_t>(b.header().constants_offset + offset) = -1;
       }},
      {"a shift out of range",
       [&](AlignedBytes& b) {
         const std::uint32_t offset = conv(b).shift & payload::kMaxRefOffset;
         b.at<std::int32_t>(b.header().constants_offset + offset) = 31;
       }},
  };
  for (const auto& [what, change] : changes) {
    AlignedBytes changed = bytes;
    change(changed);
    EXPECT_EQ(open(changed), Error::InvalidProgram) << what;
  }
  // A call may use a copy of one constant, and another where it lies.
  AlignedBytes mixed = bytes;
  payload::Ref& bias = conv(mixed).bias;
  bias = testing::make_ref(payload::kBaseConstant,
                           mixed.header().constants_offset + (bias & payload::kMaxRefOffset));
  EXPECT_EQ(open(mixed), Error::Ok);
}

TEST(PayloadView, EveryTensorField) {
  const std::pair<const char*, std::function<void(IoTensor&)>> changes[] = {
      {"nbytes", [](IoTensor& t) { t.nbytes += 4; }},
      {"arena_offset unaligned", [](IoTensor& t) { t.arena_offset = 8; }},
      {"arena_offset past the end", [](IoTensor& t) { t.arena_offset = 640; }},
      {"arena_offset overlapping the end", [](IoTensor& t) { t.arena_offset = 640 - 16; }},
      {"dtype", [](IoTensor& t) { t.dtype = 5; }},
      {"dtype int64", [](IoTensor& t) { t.dtype = 4; }},
      {"dtype int8", [](IoTensor& t) { t.dtype = 1; }},
      {"dtype int16", [](IoTensor& t) { t.dtype = 2; }},
      {"rank smaller", [](IoTensor& t) { t.rank -= 1; }},
      {"rank larger", [](IoTensor& t) { t.rank += 1; }},
      {"rank too large", [](IoTensor& t) { t.rank = 7; }},
      {"dim_order twice", [](IoTensor& t) { t.dim_order[1] = 0; }},
      {"dim_order without 0", [](IoTensor& t) { t.dim_order[0] = 1; }},
      {"dim_order out of range", [](IoTensor& t) { t.dim_order[1] = 4; }},
      {"dim_order after rank", [](IoTensor& t) { t.dim_order[5] = 1; }},
      {"size 0",
       [](IoTensor& t) {
         t.sizes[1] = 0;
         t.nbytes = 0;
       }},
      {"size negative", [](IoTensor& t) { t.sizes[1] = -3; }},
      {"sizes overflow",
       [](IoTensor& t) {
         t.sizes[0] = 1 << 30;
         t.sizes[1] = 64;
       }},
      {"size after rank", [](IoTensor& t) { t.sizes[5] = 1; }},
  };
  for (const auto& [what, change] : changes) {
    AlignedBytes bytes = small_network();
    change(bytes.at<IoTensor>(bytes.header().header_bytes));
    EXPECT_EQ(open(bytes), Error::InvalidProgram) << what;
  }
}

TEST(PayloadView, TensorsInTheArenaAndOtherDimensionOrders) {
  EXPECT_EQ(open_with([](AlignedBytes& b) {
              auto& t = b.at<IoTensor>(b.header().header_bytes);
              t.arena_offset = 640 - 432;
            }),
            Error::Ok);
  EXPECT_EQ(open_with([](AlignedBytes& b) {
              auto& t = b.at<IoTensor>(b.header().header_bytes);
              const std::uint8_t channels_last[4] = {0, 2, 3, 1};
              std::memcpy(t.dim_order, channels_last, 4);
            }),
            Error::Ok);
}

TEST(PayloadView, TensorsOfAsManyDimensionsAsThereMayBe) {
  EXPECT_EQ(open_with([](AlignedBytes& b) {
              auto& t = b.at<IoTensor>(b.header().header_bytes);
              ASSERT_EQ(t.rank, 4);
              for (std::uint8_t i = t.rank; i < payload::kMaxRank; ++i) {
                t.sizes[i] = 1;
                t.dim_order[i] = i;
              }
              t.rank = payload::kMaxRank;
            }),
            Error::Ok);
}

/// A tensor has at least one element, even if no call uses it.
TEST(PayloadView, TensorsOfOneElementAndOfNone) {
  for (const std::int32_t unused : {0, 1}) {
    testing::PayloadBuilder builder;
    payload::QuantizeArgs args = {};
    args.input = builder.input(payload::DType::kFloat32, {1});
    builder.input(payload::DType::kInt8, {unused});
    args.output = builder.output(payload::DType::kInt8, {1});
    args.batch = args.channels = args.pixels = 1;
    args.inverse_scale = 2.0f;
    builder.call(payload::Opcode::kQuantize, args);
    EXPECT_EQ(open(builder.finish()), unused == 0 ? Error::InvalidProgram : Error::Ok);
  }
}

}  // namespace
}  // namespace cmsis_nn_delegate
