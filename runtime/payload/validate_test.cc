#include "runtime/payload/validate.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>

#include <gtest/gtest.h>

#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/view.h"
#include "tests/payloads/operator_fields.h"
#include "tests/payloads/payload_builder.h"

namespace cmsis_nn_delegate {
namespace {

using executorch::runtime::Error;
using payload::Opcode;
using testing::AlignedBytes;
using testing::args_of;
using testing::make_ref;
using testing::operator_payload;
using testing::small_network;

constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();

Error error_of(const AlignedBytes& payload, const KernelTable& table = kPortableKernels) {
  return PayloadView::open(payload.data(), payload.size(), table).error();
}

template <typename Args>
using Change = std::pair<const char*, std::function<void(Args&)>>;

template <typename Args>
Error open_with(Opcode opcode, const std::function<void(Args&)>& change) {
  AlignedBytes bytes = small_network();
  change(args_of<Args>(bytes, opcode));
  return error_of(bytes);
}

/// open() gives `expected` for each change to a payload.
template <typename Open, typename Changes>
void expect_each(const Open& open, const Changes& changes, Error expected) {
  for (const auto& [what, change] : changes) {
    EXPECT_EQ(open(change), expected) << what;
  }
}

/// Each change to the arguments of the call of `opcode` in a valid payload makes it malformed.
template <typename Args>
void expect_refused(Opcode opcode, const std::vector<Change<Args>>& changes) {
  const auto open = [opcode](const auto& change) { return open_with<Args>(opcode, change); };
  expect_each(open, changes, Error::InvalidProgram);
}

template <typename Args>
void expect_accepted(Opcode opcode, const std::vector<Change<Args>>& changes) {
  const auto open = [opcode](const auto& change) { return open_with<Args>(opcode, change); };
  expect_each(open, changes, Error::Ok);
}

/// Calls `test` with every member of the argument block of every operator.
template <typename Test>
void for_every_field(const Test& test) {
  for (const Operator& op : kOperators) {
    for (const OperatorField& field : kOperatorFields[static_cast<std::size_t>(op.opcode)]) {
      SCOPED_TRACE(::testing::Message()
                   << "opcode " << static_cast<int>(op.opcode) << ", field " << field.name);
      test(op.opcode, field);
    }
  }
}

/// The payload with one call of `opcode`, and 16 more bytes of constants, so that a constant whose
/// reference is a few bytes too high is still in bounds.
AlignedBytes payload_with_room(Opcode opcode) {
  constexpr std::uint32_t kRoom = 16;
  const AlignedBytes exact = operator_payload(opcode);
  AlignedBytes bytes(exact.size() + kRoom);
  std::memcpy(bytes.data(), exact.data(), exact.size());
  bytes.header().payload_bytes += kRoom;
  bytes.header().constants_bytes += kRoom;
  return bytes;
}

/// The error of the payload `bytes` if `field` of the call of `opcode` is `value`.
Error open_with_value(AlignedBytes bytes, Opcode opcode, const OperatorField& field,
                      std::uint32_t value) {
  field.at.set(testing::find_args(bytes, opcode), static_cast<std::int32_t>(value));
  return error_of(bytes);
}

/// The error of a payload in which `field` of the call of `opcode` is `value`.
Error open_with_value(Opcode opcode, const OperatorField& field, std::uint32_t value) {
  return open_with_value(operator_payload(opcode), opcode, field, value);
}

/// What `field` of the call of `opcode` names.
std::uint32_t bytes_of(Opcode opcode, const OperatorField& field) {
  AlignedBytes bytes = operator_payload(opcode);
  return static_cast<std::uint32_t>(field.bytes(testing::find_args(bytes, opcode)));
}

TEST(ValidateCalls, EveryReference) {
  std::size_t tested = 0;
  for_every_field([&](Opcode opcode, const OperatorField& field) {
    if (!field.is_reference()) {
      return;
    }
    ++tested;
    AlignedBytes valid = operator_payload(opcode);
    const payload::Header& header = valid.header();
    // Behind tensors lies the state, if there is one.
    const unsigned known =
        header.input_count + header.output_count + (header.persistent_bytes != 0 ? 1 : 0);
    std::vector<payload::Ref> wrong = {
        make_ref(payload::kBaseIo + known),  // no such tensor
        make_ref(14),                        // the last base
        make_ref(15, 4),                     // none, with an offset
        make_ref(payload::kBaseArena, payload::kMaxRefOffset),
        make_ref(payload::kBaseArena, header.arena_bytes),
        make_ref(payload::kBaseConstant, 0),  // the header
        make_ref(payload::kBaseConstant, header.constants_offset - field.alignment),
        make_ref(payload::kBaseConstant, payload::kMaxRefOffset),
    };
    const std::uint32_t bytes = bytes_of(opcode, field);
    if (bytes != 0) {
      wrong.push_back(payload::kNoRef);
      wrong.push_back(make_ref(payload::kBaseArena, header.arena_bytes - bytes + field.alignment));
      wrong.push_back(
          make_ref(payload::kBaseConstant, header.payload_bytes - bytes + field.alignment));
    } else {
      wrong.push_back(make_ref(payload::kBaseArena));
    }
    for (std::size_t off = 1; off < field.alignment; off *= 2) {
      wrong.push_back(make_ref(payload::kBaseArena, off));
      wrong.push_back(make_ref(payload::kBaseConstant, header.constants_offset + off));
      if (field.is_constant()) {
        std::uint32_t ref;
        std::memcpy(&ref, testing::find_args(valid, opcode) + field.at.offset, sizeof(ref));
        const AlignedBytes room = payload_with_room(opcode);
        EXPECT_EQ(open_with_value(room, opcode, field, ref), Error::Ok);
        EXPECT_EQ(open_with_value(room, opcode, field, ref + off), Error::InvalidProgram)
            << "misaligned by " << off;
      }
    }
    if (field.kind == FieldKind::kOutput || field.kind == FieldKind::kState ||
        field.kind == FieldKind::kScratch) {
      wrong.push_back(make_ref(payload::kBaseConstant, header.constants_offset));
      if (header.input_count > 0) {
        wrong.push_back(make_ref(payload::kBaseIo));
      }
    }
    if (field.is_constant()) {
      wrong.push_back(make_ref(payload::kBaseArena));
      wrong.push_back(make_ref(payload::kBaseIo));
    }
    for (const payload::Ref ref : wrong) {
      EXPECT_EQ(open_with_value(opcode, field, ref), Error::InvalidProgram)
          << "reference " << std::hex << ref;
    }
  });
  EXPECT_GE(tested, 40u);
}

TEST(ValidateCalls, EveryRange) {
  std::size_t tested = 0;
  for_every_field([&](Opcode opcode, const OperatorField& field) {
    if (!field.ranged) {
      return;
    }
    ++tested;
    const auto open = [&](std::int64_t value) {
      return open_with_value(opcode, field, static_cast<std::uint32_t>(value));
    };
    for (const std::int64_t value : {std::int64_t{field.low} - 1, std::int64_t{field.high} + 1,
                                     std::int64_t{kMin}, std::int64_t{kMax}}) {
      if ((value < field.low || value > field.high) && value >= field.at.low() &&
          value <= field.at.high()) {
        EXPECT_EQ(open(value), Error::InvalidProgram) << value;
      }
    }
    for (const std::int64_t value : {field.low, field.high}) {
      if (!field.related) {
        EXPECT_EQ(open(value), Error::Ok) << value;
      }
    }
  });
  EXPECT_GE(tested, 30u);
}

TEST(ValidateCalls, EverySize) {
  // Of what a reference names: none, a negative one, and more than there is; of numbers of 16 bits, what remains of it.
  std::size_t tested = 0;
  for_every_field([&](Opcode opcode, const OperatorField& field) {
    if (!field.is_reference() || field.kind == FieldKind::kScratch) {
      return;
    }
    for (unsigned i = 0; i < field.factor_count; ++i) {
      OperatorField factor = field;
      factor.at = field.factors[i];
      for (const std::int32_t size : {0, -1, kMin, kMax, 1 << 16, 1 << 28}) {
        EXPECT_EQ(open_with_value(opcode, factor, static_cast<std::uint32_t>(size)),
                  Error::InvalidProgram)
            << "size " << i << " is " << size;
        ++tested;
      }
    }
  });
  EXPECT_GE(tested, 300u);
}

TEST(ValidateCalls, FloatsOnlyInFloatTensors) {
  // An int8 tensor of the caller may lie at an odd address.
  EXPECT_EQ(open_with<payload::DequantizeArgs>(Opcode::kDequantize,
                                               [](auto& a) {
                                                 a.output = make_ref(payload::kBaseIo + 1);
                                                 a.pixels = 1;
                                               }),
            Error::InvalidProgram);
}

TEST(ValidateCalls, ParametersAreConstants) {
  expect_refused<payload::Conv2dArgs>(
      Opcode::kConv2d,
      {{"bias in the arena", [](auto& a) { a.bias = 0; }},
       {"filter in the arena", [](auto& a) { a.filter = 0; }},
       {"shift in an input", [](auto& a) { a.shift = make_ref(payload::kBaseIo); }}});
}

/// Element `index` of the int32 constant that `member` of the call of `opcode` names.
template <typename Args>
std::int32_t& element(AlignedBytes& bytes, Opcode opcode, payload::Ref Args::*member,
                      std::size_t index) {
  const payload::Ref ref = args_of<Args>(bytes, opcode).*member;
  return bytes.at<std::int32_t>((ref & payload::kMaxRefOffset) + 4 * index);
}

template <typename Args>
void expect_multipliers_checked(Opcode opcode, std::size_t channels) {
  struct Value {
    std::int32_t value;
    bool multiplier;  // whether it is a valid one
    bool shift;
  };
  const Value values[] = {{kMin, false, false},   {kMin + 1, false, false}, {-32, false, false},
                          {-31, false, true},     {-1, false, true},        {0, true, true},
                          {30, true, true},       {31, true, false},        {32, true, false},
                          {1 << 30, true, false}, {kMax, true, false}};
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (const Value& v : values) {
      AlignedBytes bytes = small_network();
      element(bytes, opcode, &Args::multiplier, channel) = v.value;
      EXPECT_EQ(error_of(bytes) == Error::Ok, v.multiplier)
          << "multiplier " << v.value << " of channel " << channel;
      bytes = small_network();
      element(bytes, opcode, &Args::shift, channel) = v.value;
      EXPECT_EQ(error_of(bytes) == Error::Ok, v.shift)
          << "shift " << v.value << " of channel " << channel;
    }
  }
}

TEST(ValidateCalls, MultipliersAndShiftsOfEveryChannel) {
  expect_multipliers_checked<payload::Conv2dArgs>(Opcode::kConv2d, 4);
  expect_multipliers_checked<payload::DepthwiseConv2dArgs>(Opcode::kDepthwiseConv2d, 4);
  expect_multipliers_checked<payload::FullyConnectedArgs>(Opcode::kFullyConnected, 5);
}

/// The output of the call of `opcode` meets `input` in every way.
void expect_overlap_checked(Opcode opcode, const OperatorField& input,
                            const OperatorField& output) {
  const std::size_t input_bytes = bytes_of(opcode, input);
  const std::size_t output_bytes = bytes_of(opcode, output);
  // Free of other operands: after what the payload uses.
  const std::size_t begin =
      (operator_payload(opcode).header().arena_bytes + output_bytes + 15) / 16 * 16;
  const Kernel& kernel = *kPortableKernels.find(opcode);
  for (std::size_t at = begin - output_bytes; at <= begin + input_bytes; at += output.alignment) {
    AlignedBytes bytes = operator_payload(opcode);
    bytes.header().arena_bytes =
        static_cast<std::uint32_t>((begin + input_bytes + output_bytes + 15) / 16 * 16);
    std::uint8_t* const args = testing::find_args(bytes, opcode);
    const payload::Ref input_ref = make_ref(payload::kBaseArena, begin);
    const payload::Ref output_ref = make_ref(payload::kBaseArena, at);
    std::memcpy(args + input.at.offset, &input_ref, sizeof(input_ref));
    std::memcpy(args + output.at.offset, &output_ref, sizeof(output_ref));
    const bool apart = at + output_bytes <= begin || begin + input_bytes <= at;
    const bool same = at == begin && input_bytes == output_bytes;
    const bool before = kernel.overlaps != nullptr &&
                        kernel.overlaps(args, static_cast<std::int32_t>(begin - at)) && at <= begin;
    EXPECT_EQ(error_of(bytes) == Error::Ok, apart || (same && kernel.overwrites_input) || before)
        << "output at " << at;
  }
}

TEST(ValidateCalls, OutputsLieApartFromInputs) {
  std::size_t tested = 0;
  for_every_field([&](Opcode opcode, const OperatorField& input) {
    if (input.kind != FieldKind::kInput) {
      return;
    }
    for (const OperatorField& output : kOperatorFields[static_cast<std::size_t>(opcode)]) {
      if (output.kind == FieldKind::kOutput) {
        expect_overlap_checked(opcode, input, output);
        ++tested;
      }
    }
  });
  EXPECT_GE(tested, 12u);
  EXPECT_TRUE(kPortableKernels.find(Opcode::kAdd)->overwrites_input);
  EXPECT_NE(kPortableKernels.find(Opcode::kConv2dPairs)->overlaps, nullptr);
}

TEST(ValidateCalls, ASumOverOneInputStaysApartFromTheOther) {
  EXPECT_EQ(
      open_with<payload::AddArgs>(Opcode::kAdd, [](auto& a) { a.input1 = a.input2 = a.output; }),
      Error::Ok);
  EXPECT_EQ(open_with<payload::AddArgs>(Opcode::kAdd,
                                        [](auto& a) {
                                          a.output = a.input1;
                                          a.input2 = a.input1 + 16;
                                        }),
            Error::InvalidProgram);
}

TEST(ValidateCalls, InputsAndOutputsOverlapWhereTheArenaHasThem) {
  // Output 0, 5 bytes, is softmax's.
  const auto open = [](std::uint32_t arena_offset, payload::Ref input) {
    AlignedBytes bytes = small_network();
    bytes.header().arena_bytes = 4096;
    bytes.at<payload::IoTensor>(bytes.header().header_bytes + sizeof(payload::IoTensor))
        .arena_offset = arena_offset;
    args_of<payload::SoftmaxArgs>(bytes, Opcode::kSoftmax).input = input;
    return error_of(bytes);
  };
  EXPECT_EQ(open(1024, make_ref(payload::kBaseArena, 1019)), Error::Ok);
  EXPECT_EQ(open(1024, make_ref(payload::kBaseArena, 1020)), Error::InvalidProgram);
  EXPECT_EQ(open(1024, make_ref(payload::kBaseArena, 1024)), Error::InvalidProgram);
  EXPECT_EQ(open(1024, make_ref(payload::kBaseArena, 1028)), Error::InvalidProgram);
  EXPECT_EQ(open(1024, make_ref(payload::kBaseArena, 1029)), Error::Ok);
  EXPECT_EQ(open(payload::kNoArenaOffset, make_ref(payload::kBaseArena, 1024)), Error::Ok);
}

TEST(ValidateCalls, ScratchLiesApartFromInputAndOutput) {
  const auto expect_refused_at = [](Opcode opcode, auto place) {
    for (const bool input : {true, false}) {
      AlignedBytes bytes = small_network();
      place(bytes, input);
      EXPECT_EQ(error_of(bytes), Error::InvalidProgram)
          << static_cast<int>(opcode) << (input ? " input" : " output");
    }
  };
  expect_refused_at(Opcode::kConv2d, [](AlignedBytes& bytes, bool input) {
    auto& a = args_of<payload::Conv2dArgs>(bytes, Opcode::kConv2d);
    // The last byte that the scratch memory meets, and the first.
    (input ? a.input : a.output) = input ? a.scratch - 107 : a.scratch + 191 - 143;
  });
  expect_refused_at(Opcode::kAvgPool2d, [](AlignedBytes& bytes, bool input) {
    auto& a = args_of<payload::AvgPool2dArgs>(bytes, Opcode::kAvgPool2d);
    (input ? a.input : a.output) = a.scratch - 143;
  });
  expect_refused_at(Opcode::kDepthwiseConv2d, [](AlignedBytes& bytes, bool input) {
    auto& a = args_of<payload::DepthwiseConv2dArgs>(bytes, Opcode::kDepthwiseConv2d);
    a.scratch = make_ref(payload::kBaseArena, 432);
    a.scratch_bytes = 192;
    (input ? a.input : a.output) = a.scratch - 143;
  });
}

TEST(ValidateCalls, Convolution) {
  using Args = payload::Conv2dArgs;
  constexpr std::uint16_t kMost = std::numeric_limits<std::uint16_t>::max();
  expect_refused<Args>(
      Opcode::kConv2d,
      {
          {"batch 0", [](Args& a) { a.input_dims.n = a.output_dims.n = 0; }},
          {"batches differ", [](Args& a) { a.output_dims.n = 2; }},
          {"height 0", [](Args& a) { a.input_dims.h = 0; }},
          {"height", [](Args& a) { a.input_dims.h = kMost; }},
          {"width", [](Args& a) { a.input_dims.w = kMost; }},
          {"sizes of more than 32 bits", [](Args& a) { a.input_dims.h = a.input_dims.w = kMost; }},
          {"filter height 0", [](Args& a) { a.filter_dims.h = 0; }},
          {"filter width", [](Args& a) { a.filter_dims.w = kMost; }},
          {"filter channels 0", [](Args& a) { a.filter_dims.c = 0; }},
          {"filter channels do not divide", [](Args& a) { a.filter_dims.c = 2; }},
          {"more filter channels than inputs", [](Args& a) { a.filter_dims.c = 6; }},
          {"groups do not divide outputs", [](Args& a) { a.filter_dims.c = 1; }},
          {"filters", [](Args& a) { a.filter_dims.n = 5; }},
          {"outputs", [](Args& a) { a.output_dims.c = 5; }},
          {"output past the arena", [](Args& a) { a.output_dims.h = 100; }},
          {"output too low", [](Args& a) { a.output_dims.h = 2; }},
          {"output 0", [](Args& a) { a.output_dims.w = 0; }},
          {"stride 0", [](Args& a) { a.params.stride.w = 0; }},
          {"padding", [](Args& a) { a.params.padding.w = kMost; }},
          {"dilation 0", [](Args& a) { a.params.dilation.w = 0; }},
          {"input offset", [](Args& a) { a.params.input_offset = 129; }},
          {"input offset low", [](Args& a) { a.params.input_offset = -128; }},
          {"output offset", [](Args& a) { a.params.output_offset = 128; }},
          {"activation min", [](Args& a) { a.params.activation.min = -129; }},
          {"activation max", [](Args& a) { a.params.activation.max = 128; }},
          {"activation crossed", [](Args& a) { a.params.activation = {5, 4}; }},
          {"scratch bytes negative", [](Args& a) { a.scratch_bytes = -1; }},
          {"scratch bytes too large", [](Args& a) { a.scratch_bytes = 208; }},
          {"scratch without bytes", [](Args& a) { a.scratch_bytes = 0; }},
      });
  expect_accepted<Args>(Opcode::kConv2d, {
                                             {"unchanged", [](Args&) {}},
                                             {"no scratch",
                                              [](Args& a) {
                                                a.scratch = payload::kNoRef;
                                                a.scratch_bytes = 0;
                                              }},
                                             {"padding at the end only",
                                              [](Args& a) {
                                                a.params.padding = {0, 0};
                                                a.output_dims.h = 6;
                                              }},
                                             {"windows in the padding",
                                              [](Args& a) {
                                                a.params.padding = {3, 3};
                                                a.output_dims.h = a.output_dims.w = 7;
                                              }},
                                             {"1x1 with padding at the end",
                                              [](Args& a) {
                                                a.filter_dims.h = a.filter_dims.w = 1;
                                                a.params.padding = {0, 0};
                                                a.input_dims.h = 5;
                                              }},
                                         });
}

TEST(ValidateCalls, LargeConvolution) {
  using Args = payload::Conv2dLargeArgs;
  const Change<Args> changes[] = {
      {"height negative", [](Args& a) { a.input_dims.h = -6; }},
      {"height too large", [](Args& a) { a.input_dims.h = 1 << 28; }},
      {"width", [](Args& a) { a.input_dims.w = kMax; }},
      {"filter width", [](Args& a) { a.filter_dims.w = kMin; }},
      {"stride 0", [](Args& a) { a.params.stride.w = 0; }},
      {"stride negative", [](Args& a) { a.params.stride.h = -1; }},
      {"stride too large", [](Args& a) { a.params.stride.h = 1 << 28; }},
      {"padding negative", [](Args& a) { a.params.padding.w = -1; }},
      {"padding too large", [](Args& a) { a.params.padding.w = 1 << 28; }},
      {"dilation 0", [](Args& a) { a.params.dilation.w = 0; }},
      {"dilation overflow", [](Args& a) { a.params.dilation.w = kMax; }},
      {"groups do not divide", [](Args& a) { a.filter_dims.c = a.input_dims.c + 1; }},
  };
  for (const auto& [what, change] : changes) {
    AlignedBytes bytes = operator_payload(Opcode::kConv2dLarge);
    EXPECT_EQ(error_of(bytes), Error::Ok);
    change(args_of<Args>(bytes, Opcode::kConv2dLarge));
    EXPECT_EQ(error_of(bytes), Error::InvalidProgram) << what;
  }
}

TEST(ValidateCalls, Depthwise) {
  using Args = payload::DepthwiseConv2dArgs;
  expect_refused<Args>(Opcode::kDepthwiseConv2d,
                       {
                           {"multiplier 0", [](Args& a) { a.params.ch_mult = 0; }},
                           {"multiplier", [](Args& a) { a.params.ch_mult = 2; }},
                           {"multiplier overflow", [](Args& a) { a.params.ch_mult = 0x40000001; }},
                           {"filter n", [](Args& a) { a.filter_dims.n = 2; }},
                           {"filter channels", [](Args& a) { a.filter_dims.c = 3; }},
                           {"input channels", [](Args& a) { a.input_dims.c = 3; }},
                           {"stride", [](Args& a) { a.params.stride.h = 0; }},
                           {"activation", [](Args& a) { a.params.activation.max = 1000; }},
                       });
  expect_accepted<Args>(Opcode::kDepthwiseConv2d,
                        {
                            {"first window in the padding",
                             [](Args& a) {
                               a.params.padding.h = 3;
                               a.input_dims.h = 5;
                             }},
                            {"last window in the padding", [](Args& a) { a.input_dims.h = 4; }},
                        });
}

template <typename Args>
void expect_linear_checked(Opcode opcode) {
  expect_refused<Args>(opcode, {
                                   {"output offset", [](Args& a) { a.output_offset = -129; }},
                                   {"activation", [](Args& a) { a.activation.min = 128; }},
                                   {"batch too large", [](Args& a) { a.batch = 1000; }},
                                   {"batch 0", [](Args& a) { a.batch = 0; }},
                                   {"batch negative", [](Args& a) { a.batch = -1; }},
                                   {"inputs 0", [](Args& a) { a.inputs = 0; }},
                                   {"outputs 0", [](Args& a) { a.outputs = 0; }},
                                   {"inputs", [](Args& a) { a.inputs = 1000; }},
                                   {"outputs", [](Args& a) { a.outputs = 1000; }},
                                   {"negative", [](Args& a) { a.inputs = -a.inputs; }},
                                   {"all negative",
                                    [](Args& a) {
                                      a.batch = -1;
                                      a.inputs = -1;
                                      a.outputs = -1;
                                    }},
                                   {"overflow", [](Args& a) { a.inputs = 1 << 30; }},
                                   {"overflow to nothing",
                                    [](Args& a) {
                                      a.batch = 1 << 16;
                                      a.inputs = a.outputs = 1 << 16;
                                    }},
                                   {"filter in the arena", [](Args& a) { a.filter = 0; }},
                               });
}

TEST(ValidateCalls, FullyConnected) {
  expect_linear_checked<payload::FullyConnectedArgs>(Opcode::kFullyConnected);
  expect_linear_checked<payload::FullyConnectedPerTensorArgs>(Opcode::kFullyConnectedPerTensor);
  expect_refused<payload::FullyConnectedPerTensorArgs>(
      Opcode::kFullyConnectedPerTensor, {{"shift", [](auto& a) { a.shift = 31; }},
                                         {"shift low", [](auto& a) { a.shift = -32; }},
                                         {"multiplier", [](auto& a) { a.multiplier = -1; }}});
}

TEST(ValidateCalls, Add) {
  using Args = payload::AddArgs;
  expect_refused<Args>(Opcode::kAdd,
                       {
                           {"count 0", [](Args& a) { a.count = 0; }},
                           {"count negative", [](Args& a) { a.count = -1; }},
                           {"count too large", [](Args& a) { a.count = 353; }},
                           {"offset 1", [](Args& a) { a.input1_offset = 129; }},
                           {"offset 2", [](Args& a) { a.input2_offset = -128; }},
                           {"offset out", [](Args& a) { a.output_offset = 128; }},
                           {"shift 1", [](Args& a) { a.input1_shift = 1; }},
                           {"shift 2", [](Args& a) { a.input2_shift = -32; }},
                           {"shift out", [](Args& a) { a.output_shift = kMin; }},
                           {"multiplier 1", [](Args& a) { a.input1_multiplier = -1; }},
                           {"multiplier 2", [](Args& a) { a.input2_multiplier = kMin; }},
                           {"multiplier out", [](Args& a) { a.output_multiplier = -1; }},
                           {"left shift", [](Args& a) { a.left_shift = 21; }},
                           {"activation", [](Args& a) { a.activation = {1, 0}; }},
                       });
}

TEST(ValidateCalls, Pooling) {
  using Avg = payload::AvgPool2dArgs;
  using Max = payload::MaxPool2dArgs;
  expect_refused<Avg>(Opcode::kAvgPool2d,
                      {
                          {"padding", [](Avg& a) { a.params.padding.h = 3; }},
                          {"channels", [](Avg& a) { a.output_dims.c = 3; }},
                          {"batch", [](Avg& a) { a.input_dims.n = 2; }},
                          {"window past the input", [](Avg& a) { a.output_dims.w = 8; }},
                          {"stride", [](Avg& a) { a.params.stride.w = 0; }},
                          {"kernel", [](Avg& a) { a.filter_dims.h = 0; }},
                          {"activation", [](Avg& a) { a.params.activation.min = -200; }},
                      });
  expect_refused<Max>(Opcode::kMaxPool2d,
                      {
                          {"padding", [](Max& a) { a.params.padding.w = 2; }},
                          {"output too small", [](Max& a) { a.output_dims.h = 2; }},
                          {"output too large", [](Max& a) { a.output_dims.h = 4; }},
                          {"activation", [](Max& a) { a.params.activation.max = 128; }},
                      });
}

TEST(ValidateCalls, Others) {
  using payload::DequantizeArgs;
  using payload::QuantizeArgs;
  using payload::SoftmaxArgs;
  using payload::TransposeArgs;
  expect_refused<SoftmaxArgs>(Opcode::kSoftmax,
                              {{"rows", [](auto& a) { a.rows = 0; }},
                               {"rows large", [](auto& a) { a.rows = 1 << 20; }},
                               {"size", [](auto& a) { a.row_size = -5; }},
                               {"shift", [](auto& a) { a.shift = 31; }},
                               {"shift negative", [](auto& a) { a.shift = -1; }},
                               {"multiplier", [](auto& a) { a.multiplier = -1; }},
                               {"diff_min", [](auto& a) { a.diff_min = 1; }},
                               {"diff_min overflows", [](auto& a) { a.diff_min = -249; }},
                               {"diff_min of another shift", [](auto& a) { a.shift = 24; }}});
  expect_refused<QuantizeArgs>(
      Opcode::kQuantize, {{"batch", [](auto& a) { a.batch = 2; }},
                          {"channels 0", [](auto& a) { a.channels = 0; }},
                          {"overflow", [](auto& a) { a.batch = a.channels = a.pixels = 1 << 16; }},
                          {"zero point", [](auto& a) { a.zero_point = 128; }}});
  expect_refused<DequantizeArgs>(Opcode::kDequantize,
                                 {{"pixels", [](auto& a) { a.pixels = 6; }},
                                  {"channels negative", [](auto& a) { a.channels = -1; }},
                                  {"zero point", [](auto& a) { a.zero_point = -129; }}});
  expect_refused<TransposeArgs>(Opcode::kTranspose, {{"rows", [](auto& a) { a.rows = 0; }},
                                                     {"columns", [](auto& a) { a.columns = 1000; }},
                                                     {"batch", [](auto& a) { a.batch = kMin; }}});
}

TEST(ValidateCalls, ExponentialsOfInt16HaveFewerOctavesThanBits) {
  const auto open_with_scale = [](std::int32_t multiplier, std::int32_t shift, std::int32_t reach) {
    AlignedBytes bytes = operator_payload(Opcode::kSoftmaxInt16);
    auto& a = args_of<payload::SoftmaxInt16Args>(bytes, Opcode::kSoftmaxInt16);
    a.multiplier = multiplier;
    a.shift = shift;
    a.reach = reach;
    return error_of(bytes);
  };
  // 26 octaves are 26 << 16 steps.
  EXPECT_EQ(open_with_scale((26 << 16) - 1, 0, 1), Error::Ok);
  EXPECT_EQ(open_with_scale(26 << 16, 0, 1), Error::InvalidProgram);
  EXPECT_EQ(open_with_scale(26 << 8, 2, 1 << 10), Error::InvalidProgram);
  EXPECT_EQ(open_with_scale((26 << 8) - 1, 2, 1 << 10), Error::Ok);
  // 3 * 1135957 is (26 << 17) - 1, which rounding takes beyond.
  EXPECT_EQ(open_with_scale(1135957, 1, 3), Error::InvalidProgram);
  EXPECT_EQ(open_with_scale(1135956, 1, 3), Error::Ok);
}

TEST(ValidateCalls, SumsOf64BitsHaveRoomForTheirMultipliers) {
  using Args = payload::Conv2dWideInt16Args;
  const auto open_with_last = [](std::int64_t bias, std::int32_t shift) {
    AlignedBytes bytes = operator_payload(Opcode::kConv2dWideInt16);
    const auto& a = args_of<Args>(bytes, Opcode::kConv2dWideInt16);
    const auto last = static_cast<std::size_t>(a.output_dims.c - 1);
    bytes.at<std::int64_t>((a.bias & payload::kMaxRefOffset) + 8 * last) = bias;
    bytes.at<std::int32_t>((a.shift & payload::kMaxRefOffset) + 4 * last) = shift;
    return error_of(bytes);
  };
  constexpr std::int64_t kLimit = std::int64_t{1} << 46;
  EXPECT_EQ(open_with_last(kLimit - 1, 14), Error::Ok);
  EXPECT_EQ(open_with_last(1 - kLimit, -31), Error::Ok);
  EXPECT_EQ(open_with_last(kLimit, 0), Error::InvalidProgram);
  EXPECT_EQ(open_with_last(-kLimit, 0), Error::InvalidProgram);
  EXPECT_EQ(open_with_last(0, 15), Error::InvalidProgram);
}

TEST(ValidateCalls, RowsWhoseExponentialsAddUpTo31Places) {
  // There is room for more: what limits a row of int16 is the sum of its exponentials.
  const auto open_with_size = [](std::int32_t row_size) {
    constexpr std::uint32_t kRow = 1 << 18;
    AlignedBytes bytes = operator_payload(Opcode::kSoftmaxInt16);
    bytes.header().arena_bytes = 2 * kRow;
    auto& a = args_of<payload::SoftmaxInt16Args>(bytes, Opcode::kSoftmaxInt16);
    a.input = make_ref(payload::kBaseArena);
    a.output = make_ref(payload::kBaseArena, kRow);
    a.rows = 1;
    a.row_size = row_size;
    return error_of(bytes);
  };
  EXPECT_EQ(open_with_size(65535), Error::Ok);
  EXPECT_EQ(open_with_size(65536), Error::InvalidProgram);
}

TEST(ValidateCalls, StridedCopy) {
  using Copy = payload::StridedCopyArgs;
  constexpr std::int32_t kMost = payload::kMaxRefOffset;
  // 4 bytes or more to as many.
  const auto open = [](const std::function<void(Copy&)>& change) {
    AlignedBytes bytes = operator_payload(Opcode::kStridedCopy);
    auto& args = args_of<Copy>(bytes, Opcode::kStridedCopy);
    args.input_count = args.output_count = 4;
    args.input_offset = args.output_offset = 0;
    args.axis0 = args.axis1 = args.axis2 = args.axis3 = args.axis4 = {1, 0, 0};
    args.axis5 = {4, 1, 1};
    change(args);
    return error_of(bytes);
  };
  const Change<Copy> accepted[] = {
      {"everything", [](Copy&) {}},
      {"reversed", [](Copy& a) { a.input_offset = 3, a.axis5.input_stride = -1; }},
      {"one element, repeated", [](Copy& a) { a.input_offset = 3, a.axis5.input_stride = 0; }},
      {"two axes", [](Copy& a) { a.axis0 = {2, 2, 1}, a.axis5 = {2, 1, 2}; }},
      {"a part", [](Copy& a) { a.output_offset = 2, a.axis5.size = 2; }},
      {"every second one", [](Copy& a) { a.output_offset = 1, a.axis5 = {2, 3, 2}; }},
      {"strides of one step", [](Copy& a) { a.axis0 = {1, -kMost, 99}; }},
  };
  expect_each(open, accepted, Error::Ok);
  const Change<Copy> refused[] = {
      {"no steps", [](Copy& a) { a.axis2.size = 0; }},
      {"negative steps", [](Copy& a) { a.axis5.size = -4; }},
      {"reads before", [](Copy& a) { a.axis5.input_stride = -1; }},
      {"reads behind", [](Copy& a) { a.input_offset = 1; }},
      {"reads behind, two axes", [](Copy& a) { a.axis0 = {2, 3, 1}, a.axis5 = {2, 1, 2}; }},
      {"starts before", [](Copy& a) { a.input_offset = -1; }},
      {"writes behind", [](Copy& a) { a.output_offset = 1; }},
      {"writes before", [](Copy& a) { a.output_offset = -1; }},
      {"writes backwards", [](Copy& a) { a.output_offset = 3, a.axis5.output_stride = -1; }},
      {"writes far behind", [](Copy& a) { a.axis5.output_stride = kMost; }},
      {"reads before and behind",
       [](Copy& a) { a.axis0 = {2, kMost, 1}, a.axis1 = {2, -kMost, 1}, a.axis5.size = 1; }},
      {"overflow", [](Copy& a) { a.axis5 = {kMost, kMost, kMost}, a.axis4 = a.axis5; }},
      {"overflow to 0", [](Copy& a) { a.axis5 = {1 << 16, 1 << 16, 1 << 16}; }},
      {"an input stride out of range", [](Copy& a) { a.axis0.input_stride = kMin; }},
      {"an output stride out of range", [](Copy& a) { a.axis0.output_stride = kMax; }},
      {"the same elements again and again", [](Copy& a) { a.axis0 = {2, 0, 0}; }},
      {"for ever", [](Copy& a) { a.axis0 = a.axis1 = a.axis2 = a.axis3 = {kMost, 0, 0}; }},
  };
  expect_each(open, refused, Error::InvalidProgram);
}

template <typename Args>
void expect_broadcast_checked(Opcode opcode) {
  // Two rows of three elements, and one of them.
  const auto open = [opcode](const std::function<void(Args&)>& change) {
    AlignedBytes bytes = operator_payload(opcode);
    bytes.header().arena_bytes = 4096;
    auto& args = args_of<Args>(bytes, opcode);
    args.input1 = make_ref(payload::kBaseArena, 0);
    args.input2 = make_ref(payload::kBaseArena, 16);
    args.output = make_ref(payload::kBaseArena, 32);
    args.input1_dims = args.output_dims = {1, 1, 2, 3};
    args.input2_dims = {1, 1, 1, 3};
    change(args);
    return error_of(bytes);
  };
  const Change<Args> accepted[] = {
      {"a row for each", [](Args&) {}},
      {"an element", [](Args& a) { a.input2_dims.c = 1; }},
      {"an element for each row", [](Args& a) { a.input2_dims = {1, 1, 2, 1}; }},
      {"both repeated", [](Args& a) { a.input1_dims.c = 1; }},
      {"none repeated", [](Args& a) { a.input2_dims.w = 2; }},
      {"over the input of its size", [](Args& a) { a.output = a.input1; }},
      {"both inputs", [](Args& a) { a.input2 = a.input1; }},
  };
  expect_each(open, accepted, Error::Ok);
  const Change<Args> refused[] = {
      {"a smaller operand", [](Args& a) { a.input2_dims.c = 2; }},
      {"a larger operand", [](Args& a) { a.input2_dims.w = 3; }},
      {"a larger output", [](Args& a) { a.output_dims.n = 2; }},
      {"a smaller output", [](Args& a) { a.output_dims.w = 1; }},
      {"no elements", [](Args& a) { a.input1_dims.h = a.input2_dims.h = a.output_dims.h = 0; }},
      {"negative", [](Args& a) { a.input1_dims.h = a.output_dims.h = -1; }},
      {"too many", [](Args& a) { a.input1_dims.h = a.output_dims.h = 1 << 28; }},
      {"overflow to 0",
       [](Args& a) { a.input1_dims = a.input2_dims = a.output_dims = {1 << 14, 1 << 14, 16, 1}; }},
      {"over the repeated input", [](Args& a) { a.output = a.input2; }},
      {"over a part of the other input",
       [](Args& a) {
         a.output = a.input1;
         a.input2 = a.input1 + 3;
       }},
      {"outside of the arena", [](Args& a) { a.input2 = make_ref(payload::kBaseArena, 4094); }},
  };
  expect_each(open, refused, Error::InvalidProgram);
}

TEST(ValidateCalls, Broadcast) {
  expect_broadcast_checked<payload::AddBroadcastArgs>(Opcode::kAddBroadcast);
  expect_broadcast_checked<payload::MulBroadcastArgs>(Opcode::kMulBroadcast);
}

TEST(ValidateCalls, PadNd) {
  using Pad = payload::PadNdArgs;
  // 4 bytes to as many.
  const auto open = [](const std::function<void(Pad&)>& change) {
    AlignedBytes bytes = operator_payload(Opcode::kPadNd);
    auto& args = args_of<Pad>(bytes, Opcode::kPadNd);
    args.input_count = args.output_count = 4;
    args.row_size = 1;
    args.mode = args.fill = 0;
    args.axis0 = args.axis1 = args.axis2 = args.axis3 = args.axis4 = {1, 1, 0};
    args.axis5 = {4, 4, 0};
    change(args);
    return error_of(bytes);
  };
  constexpr std::int32_t kMost = payload::kMaxRefOffset;
  const Change<Pad> accepted[] = {
      {"everything", [](Pad&) {}},
      {"rows", [](Pad& a) { a.axis5 = {2, 2, 0}, a.row_size = 2; }},
      {"two axes", [](Pad& a) { a.axis0 = {2, 2, 0}, a.axis5 = {2, 2, 1}; }},
      {"all of it the constant", [](Pad& a) { a.axis5.before = kMost; }},
      {"as on a ring, far away", [](Pad& a) { a.axis5.before = -kMost, a.mode = 3; }},
      {"the edge, far away", [](Pad& a) { a.axis5.before = kMost, a.mode = 2; }},
      {"reflected at the start", [](Pad& a) { a.axis5.before = 3, a.mode = 1; }},
      {"reflected at the end", [](Pad& a) { a.axis5.before = -3, a.mode = 1; }},
  };
  expect_each(open, accepted, Error::Ok);
  const Change<Pad> refused[] = {
      {"no input", [](Pad& a) { a.axis0.input_size = 0; }},
      {"no output", [](Pad& a) { a.axis0.output_size = 0; }},
      {"no row", [](Pad& a) { a.row_size = 0; }},
      {"negative sizes", [](Pad& a) { a.axis5.input_size = -4, a.axis0.input_size = -1; }},
      {"negative rows", [](Pad& a) { a.row_size = -1, a.axis0 = {-1, -1, 0}; }},
      {"more input", [](Pad& a) { a.axis3.input_size = 2; }},
      {"more output", [](Pad& a) { a.axis3.output_size = 2; }},
      {"less output", [](Pad& a) { a.axis5.output_size = 3; }},
      {"overflow", [](Pad& a) { a.axis0.output_size = a.axis1.output_size = 1 << 16; }},
      {"too far", [](Pad& a) { a.axis0.before = kMost + 1; }},
      {"much too far", [](Pad& a) { a.axis0.before = kMin; }},
      {"reflects too much at the start", [](Pad& a) { a.axis5.before = 4, a.mode = 1; }},
      {"reflects too much at the end", [](Pad& a) { a.axis5.before = -4, a.mode = 1; }},
      {"reflects a single element", [](Pad& a) { a.axis1.before = 1, a.mode = 1; }},
      {"mode", [](Pad& a) { a.mode = 4; }},
      {"constant", [](Pad& a) { a.fill = 128; }},
  };
  expect_each(open, refused, Error::InvalidProgram);
}

/// A kernel of `opcode` that asks for 100 bytes, whatever the arguments are.
template <typename Args>
void expect_scratch_checked(Opcode opcode) {
  constexpr std::int32_t kAsked = 100;
  Kernel kernel = *kPortableKernels.find(opcode);
  kernel.scratch_bytes = [](const void*) { return static_cast<std::uint32_t>(kAsked); };
  const KernelTable table = kPortableKernels.with(kernel);
  AlignedBytes bytes = small_network();
  auto& args = args_of<Args>(bytes, opcode);
  for (const std::int32_t given : {0, 1, 96, 99, 100, 101, 112, -1, kMin}) {
    args.scratch_bytes = given;
    args.scratch = given == 0 ? payload::kNoRef : make_ref(payload::kBaseArena, 448);
    EXPECT_EQ(error_of(bytes, table), given >= kAsked ? Error::Ok : Error::InvalidProgram)
        << "opcode " << static_cast<int>(opcode) << ", " << given << " bytes";
  }
}

TEST(ValidateCalls, ScratchSufficesForTheKernel) {
  expect_scratch_checked<payload::Conv2dArgs>(Opcode::kConv2d);
  expect_scratch_checked<payload::DepthwiseConv2dArgs>(Opcode::kDepthwiseConv2d);
  expect_scratch_checked<payload::AvgPool2dArgs>(Opcode::kAvgPool2d);
}

TEST(ValidateCalls, AKernelIsAskedForScratchWhenAllElseIsValid) {
  static int asked;
  asked = 0;
  Kernel kernel = portable::kConv2d;
  kernel.scratch_bytes = [](const void*) {
    ++asked;
    return std::uint32_t{0};
  };
  const KernelTable table = kPortableKernels.with(kernel);
  AlignedBytes bytes = small_network();
  EXPECT_EQ(error_of(bytes, table), Error::Ok);
  EXPECT_EQ(asked, 1);
  args_of<payload::Conv2dArgs>(bytes, Opcode::kConv2d).output = payload::kNoRef;
  EXPECT_EQ(error_of(bytes, table), Error::InvalidProgram);
  EXPECT_EQ(asked, 1);
}

/// Fewer rows than those of the gates lie within their operands, so that nothing else is wrong.
template <typename Args>
void expect_rows_checked(Opcode opcode) {
  for (const std::int32_t fewer : {0, 1}) {
    AlignedBytes bytes = operator_payload(opcode);
    args_of<Args>(bytes, opcode).rows -= fewer;
    EXPECT_EQ(error_of(bytes), fewer == 0 ? Error::Ok : Error::InvalidProgram)
        << "opcode " << static_cast<int>(opcode);
  }
}

TEST(ValidateCalls, TheRowsOfARecurrentLayerAreThoseOfItsGates) {
  expect_rows_checked<payload::LstmArgs>(Opcode::kLstm);
  expect_rows_checked<payload::GruInt16Args>(Opcode::kGruInt16);
  expect_rows_checked<payload::RnnInt4Args>(Opcode::kRnnInt4);
  expect_rows_checked<payload::LstmProjectedArgs>(Opcode::kLstmProjected);
  expect_rows_checked<payload::LstmProjectedLengthsArgs>(Opcode::kLstmProjectedLengths);
}

/// The lengths lie within the input, or where they were if that is larger, so that nothing else is wrong.
template <typename Args>
void expect_lengths_checked(Opcode opcode, std::int32_t (*input_bytes)(const Args&)) {
  int valid = 0;
  for (const std::int32_t each : {0, 1, 3, 4, 5, 7, 8, 9, 16}) {
    AlignedBytes bytes = operator_payload(opcode);
    auto& args = args_of<Args>(bytes, opcode);
    const std::int32_t room = std::max(args.length_bytes, input_bytes(args));
    if (room > args.length_bytes) {
      args.lengths = args.input;
    }
    args.length_bytes = args.batch * each;
    if (args.length_bytes > room) {
      continue;
    }
    const bool fits = each == 4 || each == 8;
    EXPECT_EQ(error_of(bytes), fits ? Error::Ok : Error::InvalidProgram)
        << "opcode " << static_cast<int>(opcode) << ", " << each << " bytes";
    valid += fits ? 1 : 0;
  }
  EXPECT_GE(valid, 1);
}

TEST(ValidateCalls, EachSequenceHasALength) {
  const auto of_layer = [](const auto& a) { return a.steps * a.batch * a.inputs; };
  expect_lengths_checked<payload::LstmLengthsArgs>(Opcode::kLstmLengths, of_layer);
  expect_lengths_checked<payload::GruLengthsArgs>(Opcode::kGruLengths, of_layer);
  expect_lengths_checked<payload::RnnLengthsArgs>(Opcode::kRnnLengths, of_layer);
  expect_lengths_checked<payload::LstmProjectedLengthsArgs>(Opcode::kLstmProjectedLengths,
                                                            of_layer);
  expect_lengths_checked<payload::LstmLengthsPairsArgs>(Opcode::kLstmLengthsPairs, of_layer);
  expect_lengths_checked<payload::GruLengthsPairsArgs>(Opcode::kGruLengthsPairs, of_layer);
  expect_lengths_checked<payload::LstmLengthsInt4Args>(Opcode::kLstmLengthsInt4, of_layer);
  expect_lengths_checked<payload::LastStepArgs>(
      Opcode::kLastStep, [](const auto& a) { return a.steps * a.batch * a.width; });
  expect_lengths_checked<payload::LastStepInt16Args>(
      Opcode::kLastStepInt16, [](const auto& a) { return a.steps * a.batch * a.width * 2; });
}

/// The bytes that the kernel of `opcode` loads past the end of `member`, of `bytes`, have to be constants, too.
template <typename Args>
void expect_tail_checked(Opcode opcode, payload::Ref Args::*member, std::uint32_t bytes,
                         payload::ReadsPast past) {
  const Kernel kernel = kPortableKernels.find(opcode)->reading_past(past);
  const KernelTable table = kPortableKernels.with(kernel);
  const std::uint32_t tail = past.filter + past.parameters;
  AlignedBytes valid = small_network();
  const payload::Ref end = make_ref(payload::kBaseConstant, valid.header().payload_bytes);
  for (std::uint32_t room = 0; room <= 24; room += 4) {
    AlignedBytes payload = small_network();
    args_of<Args>(payload, opcode).*member = end - bytes - room;
    // What lies there need not be a multiplier.
    std::memset(payload.data() + payload.size() - bytes - room, 0, bytes);
    EXPECT_EQ(error_of(payload, table) == Error::Ok, room >= tail)
        << "opcode " << static_cast<int>(opcode) << ", " << room << " bytes after it";
    EXPECT_EQ(error_of(payload), Error::Ok);
  }
}

TEST(ValidateCalls, WhatKernelsLoadBehindConstantsIsThere) {
  using payload::Conv2dArgs;
  using payload::DepthwiseConv2dArgs;
  using payload::FullyConnectedArgs;
  expect_tail_checked(Opcode::kConv2d, &Conv2dArgs::filter, 108, {16, 0});
  expect_tail_checked(Opcode::kDepthwiseConv2d, &DepthwiseConv2dArgs::filter, 36, {4, 0});
  expect_tail_checked(Opcode::kDepthwiseConv2d, &DepthwiseConv2dArgs::bias, 16, {0, 12});
  expect_tail_checked(Opcode::kDepthwiseConv2d, &DepthwiseConv2dArgs::multiplier, 16, {0, 12});
  expect_tail_checked(Opcode::kDepthwiseConv2d, &DepthwiseConv2dArgs::shift, 16, {0, 12});
  expect_tail_checked(Opcode::kFullyConnected, &FullyConnectedArgs::shift, 20, {0, 8});
  expect_tail_checked(Opcode::kConv2d, &Conv2dArgs::filter, 108, {0, 0});
}

TEST(ValidateCalls, NoConstantsForWhatAKernelLoads) {
  const Kernel kernel = portable::kConv2d.reading_past({255, 0});
  const KernelTable table = kPortableKernels.with(kernel);
  AlignedBytes bytes = small_network();
  bytes.header().constants_bytes = 16;
  EXPECT_EQ(error_of(bytes, table), Error::InvalidProgram);
}

TEST(ValidateCalls, WhatAKernelDoesNotComputeIsRefused) {
  static int asked;
  for (const Operator& op : kOperators) {
    Kernel kernel = *kPortableKernels.find(op.opcode);
    const KernelTable table = kPortableKernels.with(kernel);
    const AlignedBytes bytes = operator_payload(op.opcode);
    asked = 0;
    kernel = kernel.limited_to([](const void*) { return ++asked > 0; });
    EXPECT_EQ(error_of(bytes, table), Error::Ok);
    EXPECT_EQ(asked, 1) << "opcode " << static_cast<int>(op.opcode);
    // Before it is asked for its scratch memory, which may be too much to count.
    kernel.scratch_bytes = [](const void*) {
      ADD_FAILURE();
      return std::uint32_t{0};
    };
    kernel = kernel.limited_to([](const void*) { return false; });
    EXPECT_EQ(error_of(bytes, table), Error::InvalidProgram)
        << "opcode " << static_cast<int>(op.opcode);
  }
}

TEST(ValidateCalls, AKernelIsAskedWhatItComputesWhenAllElseIsValid) {
  const Kernel kernel = portable::kConv2d.limited_to([](const void*) {
    ADD_FAILURE();
    return true;
  });
  const KernelTable table = kPortableKernels.with(kernel);
  AlignedBytes bytes = small_network();
  args_of<payload::Conv2dArgs>(bytes, Opcode::kConv2d).output = payload::kNoRef;
  EXPECT_EQ(error_of(bytes, table), Error::InvalidProgram);
}

TEST(ValidateCalls, CallHeaders) {
  const auto open_with_call = [](const std::function<void(payload::CallHeader&)>& change) {
    AlignedBytes bytes = small_network();
    change(bytes.at<payload::CallHeader>(bytes.header().calls_offset));
    return error_of(bytes);
  };
  EXPECT_EQ(open_with_call([](auto&) {}), Error::Ok);
  EXPECT_EQ(open_with_call([](auto& c) { c.opcode = 0; }), Error::InvalidProgram);
  // Of a newer compiler.
  for (const int opcode : {static_cast<int>(payload::kOpcodeCount), 128, 255}) {
    EXPECT_EQ(open_with_call([&](auto& c) { c.opcode = static_cast<std::uint8_t>(opcode); }),
              Error::DelegateInvalidCompatibility);
  }
  for (const int bytes : {0, 3, 4, 30, 34, 65535}) {
    EXPECT_EQ(open_with_call([&](auto& c) { c.bytes = static_cast<std::uint16_t>(bytes); }),
              Error::InvalidProgram);
  }
  EXPECT_EQ(open_with_call([](auto& c) { c.provider = 0; }), Error::DelegateInvalidCompatibility);
}

/// Returns a sum that was compiled for the provider with number `id`, in a payload whose header names `providers`.
AlignedBytes add_of(unsigned id, unsigned providers, const std::vector<std::uint32_t>& revisions) {
  testing::PayloadBuilder builder;
  builder.name_providers(providers, revisions);
  payload::AddArgs args = {};
  args.input1 = args.input2 = builder.input(payload::DType::kInt8, {4});
  args.output = builder.output(payload::DType::kInt8, {4});
  args.input1_multiplier = args.input2_multiplier = args.output_multiplier = 1 << 30;
  args.left_shift = 20;
  args.output_shift = -18;
  args.activation = {-128, 127};
  args.count = 4;
  builder.call(Opcode::kAdd, args);
  AlignedBytes bytes = builder.finish();
  bytes.at<payload::CallHeader>(bytes.header().calls_offset).provider =
      static_cast<std::uint8_t>(1u << id);
  return bytes;
}

TEST(ValidateCalls, CallsOfAnotherProvider) {
  for (const auto ours : {payload::ProviderId::kPortable, payload::ProviderId::kCmsisNn}) {
    const Kernel kernel = kPortableKernels.find(Opcode::kAdd)->only_of(ours);
    const KernelTable table = kPortableKernels.with(kernel);
    for (const auto theirs : {payload::ProviderId::kPortable, payload::ProviderId::kCmsisNn}) {
      const AlignedBytes bytes = add_of(static_cast<unsigned>(theirs), 0b011,
                                        {payload::kPortableRevision, payload::kCmsisNnRevision});
      EXPECT_EQ(error_of(bytes, table),
                ours == theirs ? Error::Ok : Error::DelegateInvalidCompatibility);
    }
  }
}

TEST(ValidateCalls, TheHeaderNamesTheProvidersOfCalls) {
  const AlignedBytes bytes = add_of(1, 0, {});
  EXPECT_EQ(error_of(bytes), Error::DelegateInvalidCompatibility);
}

TEST(ValidateCalls, EachProviderHasOneRevision) {
  const auto error = [](unsigned providers, const std::vector<std::uint32_t>& revisions) {
    const AlignedBytes bytes = add_of(1, providers, revisions);
    return error_of(bytes);
  };
  EXPECT_EQ(error(0b010, {payload::kCmsisNnRevision}), Error::Ok);
  EXPECT_EQ(error(0b010, {payload::kCmsisNnRevision, 7}), Error::InvalidProgram);
  EXPECT_EQ(error(0b110, {payload::kCmsisNnRevision}), Error::InvalidProgram);
  EXPECT_EQ(error(0b010, {}), Error::InvalidProgram);
}

/// A call runs if the header has the revision of the provider that it was compiled for.
TEST(ValidateCalls, EveryProviderOfACallIsNamed) {
  static constexpr std::uint32_t kOnes[] = {1, 1, 1, 1, 1, 1, 1, 1};
  static constexpr Provider kAll = {"all", kAcceptedIsas, kOnes};
  for (unsigned id = 0; id < payload::kMaxProviders; ++id) {
    const Kernel kernel =
        kPortableKernels.find(Opcode::kAdd)->only_of(static_cast<payload::ProviderId>(id));
    const KernelTable table = kPortableKernels.taking(kAll).with(kernel);
    for (unsigned named = 0; named < 1u << payload::kMaxProviders; ++named) {
      std::vector<std::uint32_t> revisions;
      for (unsigned rest = named; rest != 0; rest &= rest - 1) {
        revisions.push_back(1);
      }
      const AlignedBytes bytes = add_of(id, named, revisions);
      EXPECT_EQ(error_of(bytes, table),
                (named >> id & 1) != 0 ? Error::Ok : Error::DelegateInvalidCompatibility)
          << "provider " << id << ", named " << named;
    }
  }
}

/// A call of a newer compiler may have no arguments; the error then is not that the payload is malformed.
TEST(ValidateCalls, TheHeaderOfACallAloneNamesItsKernel) {
  AlignedBytes bytes = small_network();
  bytes.header().calls_bytes = sizeof(payload::CallHeader);
  const auto error = [&] { return error_of(bytes); };
  EXPECT_EQ(error(), Error::InvalidProgram);
  bytes.at<payload::CallHeader>(bytes.header().calls_offset).opcode = payload::kOpcodeCount;
  EXPECT_EQ(error(), Error::DelegateInvalidCompatibility);
}

TEST(ValidateCalls, NoCallsAtAll) {
  testing::PayloadBuilder builder;
  builder.input(payload::DType::kInt8, {4});
  builder.output(payload::DType::kInt8, {4});
  const AlignedBytes bytes = builder.finish();
  EXPECT_EQ(error_of(bytes), Error::InvalidProgram);
}

}  // namespace
}  // namespace cmsis_nn_delegate
