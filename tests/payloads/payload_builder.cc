#include "tests/payloads/payload_builder.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/payload/calls.h"
#include "runtime/payload/crc32.h"
#include "tests/payloads/operator_payloads.h"

namespace cmsis_nn_delegate::testing {
namespace {

using payload::DType;
using payload::Opcode;
using payload::Ref;

std::size_t aligned(std::size_t size) { return (size + 15) / 16 * 16; }

/// Deterministic int8 weights.
std::vector<std::int8_t> weights(std::size_t count) {
  std::vector<std::int8_t> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<std::int8_t>(static_cast<int>(i * 37 % 255) - 127);
  }
  return values;
}

std::vector<std::int32_t> repeated(std::int32_t value, std::size_t count) {
  return std::vector<std::int32_t>(count, value);
}

}  // namespace

Ref PayloadBuilder::tensor(DType dtype, std::initializer_list<std::int32_t> sizes) {
  payload::IoTensor tensor = {};
  tensor.dtype = static_cast<std::uint8_t>(dtype);
  tensor.nbytes = dtype == DType::kFloat32 ? 4 : 1;
  tensor.arena_offset = payload::kNoArenaOffset;
  for (const std::int32_t size : sizes) {
    tensor.sizes[tensor.rank] = size;
    tensor.dim_order[tensor.rank] = tensor.rank;
    tensor.nbytes *= static_cast<std::uint32_t>(size);
    ++tensor.rank;
  }
  tensors_.push_back(tensor);
  return make_ref(payload::kBaseIo + static_cast<unsigned>(tensors_.size()) - 1);
}

Ref PayloadBuilder::input(DType dtype, std::initializer_list<std::int32_t> sizes) {
  if (output_count_ != 0) {
    std::abort();  // inputs come first
  }
  ++input_count_;
  return tensor(dtype, sizes);
}

Ref PayloadBuilder::output(DType dtype, std::initializer_list<std::int32_t> sizes) {
  ++output_count_;
  return tensor(dtype, sizes);
}

Ref PayloadBuilder::region(std::uint32_t bytes) {
  region_bytes_.push_back(bytes);
  return make_ref(copies_base() + (copied_bytes_ == 0 ? 0 : 1) +
                  static_cast<unsigned>(region_bytes_.size()) - 1);
}

void PayloadBuilder::copy_constants() {
  copied_bytes_ = static_cast<std::uint32_t>(constants_.size());
}

Ref PayloadBuilder::constant_bytes(const void* data, std::size_t size) {
  const std::size_t offset = constants_.size();
  constants_.resize(aligned(offset + size));
  std::memcpy(constants_.data() + offset, data, size);
  return make_ref(payload::kBaseConstant, kConstantsOffset + offset);
}

std::size_t PayloadBuilder::call_bytes(Opcode opcode, const void* args, std::size_t size) {
  payload::CallHeader header = {};
  header.opcode = static_cast<std::uint8_t>(opcode);
  header.provider = 1u << static_cast<unsigned>(payload::ProviderId::kCmsisNn);
  header.bytes = static_cast<std::uint16_t>(sizeof(header) + size);
  const std::size_t offset = calls_.size() + sizeof(header);
  calls_.resize(offset + size);
  std::memcpy(calls_.data() + offset - sizeof(header), &header, sizeof(header));
  std::memcpy(calls_.data() + offset, args, size);
  ++call_count_;
  return offset;
}

AlignedBytes PayloadBuilder::finish() const {
  payload::Header header = {};
  header.magic = payload::kMagic;
  header.format_version = payload::kFormatVersion;
  header.header_bytes =
      static_cast<std::uint16_t>(sizeof(header) + revisions_.size() * sizeof(std::uint32_t));
  header.providers = providers_;
  header.isa = static_cast<std::uint8_t>(isa_);
  header.input_count = input_count_;
  header.output_count = output_count_;
  header.region_count = static_cast<std::uint8_t>(region_bytes_.size());
  header.arena_bytes = arena_bytes_;
  header.copied_bytes = copied_bytes_;
  const std::size_t tensors_bytes = tensors_.size() * sizeof(payload::IoTensor);
  const std::size_t sizes_bytes = region_bytes_.size() * sizeof(std::uint32_t);
  header.calls_offset =
      static_cast<std::uint32_t>(aligned(header.header_bytes + tensors_bytes + sizes_bytes));
  header.calls_bytes = static_cast<std::uint32_t>(calls_.size());
  header.call_count = call_count_;
  header.constants_offset = kConstantsOffset;
  header.constants_bytes = static_cast<std::uint32_t>(constants_.size());
  header.payload_bytes = header.constants_offset + header.constants_bytes;
  if (header.calls_offset + header.calls_bytes > kConstantsOffset) {
    std::abort();  // make kConstantsOffset larger
  }
  AlignedBytes bytes(header.payload_bytes);
  std::copy(revisions_.begin(), revisions_.end(), &bytes.at<std::uint32_t>(sizeof(header)));
  std::memcpy(bytes.data() + header.header_bytes, tensors_.data(), tensors_bytes);
  std::copy(region_bytes_.begin(), region_bytes_.end(),
            &bytes.at<std::uint32_t>(header.header_bytes + tensors_bytes));
  // Either may be empty, which memcpy() does not take.
  std::copy(calls_.begin(), calls_.end(), bytes.data() + header.calls_offset);
  std::copy(constants_.begin(), constants_.end(), bytes.data() + header.constants_offset);
  bytes.header() = header;
  bytes.header().crc32 = payload_crc32(bytes.data(), bytes.size());
  return bytes;
}

namespace {

enum class Memories { kOne, kRegions, kCopies };

AlignedBytes small_network_of(Memories memories) {
  const bool in_regions = memories == Memories::kRegions;
  PayloadBuilder builder;
  builder.set_arena(640);
  const Ref image = builder.input(DType::kFloat32, {1, 3, 6, 6});
  const Ref scores = builder.output(DType::kInt8, {1, 5});
  const Ref logits = builder.output(DType::kFloat32, {1, 5});
  const Ref a0 = make_ref(payload::kBaseArena, 0);  // 144 bytes
  const Ref a1 =                                    // 144
      in_regions ? builder.region(kSmallRegions[0]) : make_ref(payload::kBaseArena, 144);
  const Ref a2 = make_ref(payload::kBaseArena, 288);  // 144
  const Ref scratch =                                 // 192
      in_regions ? builder.region(kSmallRegions[1]) : make_ref(payload::kBaseArena, 448);
  constexpr std::int32_t kHalf = 1 << 30;

  payload::QuantizeArgs quantize = {};
  quantize.input = image;
  quantize.output = a0;
  quantize.batch = 1;
  quantize.channels = 3;
  quantize.pixels = 36;
  quantize.inverse_scale = 32.0f;
  quantize.zero_point = -4;
  builder.call(Opcode::kQuantize, quantize);

  payload::Conv2dArgs conv = {};
  conv.input = a0;
  conv.filter = builder.constant(weights(4 * 3 * 3 * 3));
  conv.bias = builder.constant(std::vector<std::int32_t>{100, -200, 300, -400});
  conv.multiplier = builder.constant(repeated(kHalf, 4));
  conv.shift = builder.constant(std::vector<std::int32_t>{-7, -8, -9, -6});
  conv.scratch = scratch;
  conv.output = a1;
  conv.scratch_bytes = 192;
  conv.params = {4, -3, {1, 1}, {1, 1}, {1, 1}, {-128, 127}};
  conv.input_dims = {1, 6, 6, 3};
  conv.filter_dims = {4, 3, 3, 3};
  conv.output_dims = {1, 6, 6, 4};
  payload::DepthwiseConv2dArgs depthwise = {};
  depthwise.input = a1;
  depthwise.filter = builder.constant(weights(3 * 3 * 4));
  depthwise.bias = builder.constant(repeated(50, 4));
  depthwise.multiplier = builder.constant(repeated(kHalf + 12345, 4));
  depthwise.shift = builder.constant(repeated(-7, 4));
  depthwise.scratch = payload::kNoRef;
  depthwise.output = a2;
  // Dilated, because CMSIS-NN's kernel for this needs no scratch memory on any core; the others need
  // 4 KB with MVE.
  depthwise.params = {3, 5, 1, {1, 1}, {2, 1}, {2, 1}, {-100, 120}};
  depthwise.input_dims = {1, 6, 6, 4};
  depthwise.filter_dims = {1, 3, 3, 4};
  depthwise.output_dims = {1, 6, 6, 4};

  if (memories == Memories::kCopies) {
    builder.copy_constants();
    for (Ref* ref : {&conv.filter, &conv.bias, &conv.multiplier, &conv.shift, &depthwise.filter,
                     &depthwise.bias, &depthwise.multiplier, &depthwise.shift}) {
      *ref = builder.copy_of(*ref);
    }
  }
  builder.call(Opcode::kConv2d, conv);
  builder.call(Opcode::kDepthwiseConv2d, depthwise);

  payload::AddArgs add = {};
  add.input1 = a1;
  add.input2 = a2;
  add.output = a1;
  add.input1_offset = 3;
  add.input1_multiplier = kHalf;
  add.input2_offset = -5;
  add.input2_multiplier = kHalf + 1000;
  add.input2_shift = -1;
  add.left_shift = 20;
  add.output_offset = 2;
  add.output_multiplier = kHalf;
  add.output_shift = -18;
  add.activation = {-128, 127};
  add.count = 144;
  builder.call(Opcode::kAdd, add);

  payload::AvgPool2dArgs avg = {};
  avg.input = a1;
  avg.scratch = scratch;
  avg.output = a0;
  avg.scratch_bytes = 16;
  avg.params = {{1, 1}, {1, 1}, {-128, 127}};
  avg.input_dims = {1, 6, 6, 4};
  avg.filter_dims = {1, 3, 3, 1};
  avg.output_dims = {1, 6, 6, 4};
  builder.call(Opcode::kAvgPool2d, avg);

  payload::MaxPool2dArgs max = {};
  max.input = a0;
  max.output = a2;
  max.params = {{2, 2}, {0, 0}, {-128, 127}};
  max.input_dims = {1, 6, 6, 4};
  max.filter_dims = {1, 2, 2, 1};
  max.output_dims = {1, 3, 3, 4};
  builder.call(Opcode::kMaxPool2d, max);

  payload::TransposeArgs transpose = {};
  transpose.input = a2;
  transpose.output = a0;
  transpose.batch = 1;
  transpose.rows = 9;
  transpose.columns = 4;
  builder.call(Opcode::kTranspose, transpose);

  payload::FullyConnectedArgs dense = {};
  dense.input = a0;
  dense.filter = builder.constant(weights(5 * 36));
  dense.bias = builder.constant(repeated(-70, 5));
  dense.multiplier = builder.constant(repeated(kHalf, 5));
  dense.shift = builder.constant(repeated(-7, 5));
  dense.output = a2;
  dense.batch = 1;
  dense.output_offset = 1;
  dense.inputs = 36;
  dense.outputs = 5;
  dense.activation = {-128, 127};
  builder.call(Opcode::kFullyConnected, dense);

  payload::FullyConnectedPerTensorArgs uniform = {};
  uniform.input = a2;
  uniform.filter = builder.constant(weights(5 * 5));
  uniform.bias = builder.constant(repeated(40, 5));
  uniform.output = a1;
  uniform.batch = 1;
  uniform.output_offset = 1;
  uniform.multiplier = kHalf;
  uniform.shift = -6;
  uniform.inputs = 5;
  uniform.outputs = 5;
  uniform.activation = {-128, 127};
  builder.call(Opcode::kFullyConnectedPerTensor, uniform);

  payload::SoftmaxArgs softmax = {};
  softmax.input = a1;
  softmax.output = scores;
  softmax.rows = 1;
  softmax.row_size = 5;
  softmax.multiplier = kHalf;
  softmax.shift = 23;
  softmax.diff_min = -248;
  builder.call(Opcode::kSoftmax, softmax);

  payload::DequantizeArgs dequantize = {};
  dequantize.input = a1;
  dequantize.output = logits;
  dequantize.batch = 1;
  dequantize.channels = 1;
  dequantize.pixels = 5;
  dequantize.scale = 0.125f;
  dequantize.zero_point = 1;
  builder.call(Opcode::kDequantize, dequantize);
  return builder.finish();
}

}  // namespace

AlignedBytes small_network() { return small_network_of(Memories::kOne); }

AlignedBytes small_network_in_regions() { return small_network_of(Memories::kRegions); }

AlignedBytes small_network_with_copies() { return small_network_of(Memories::kCopies); }

AlignedBytes operator_payload(Opcode opcode) {
  for (const OperatorPayload& payload : kOperatorPayloads) {
    if (payload.opcode == opcode) {
      AlignedBytes bytes(payload.size);
      std::memcpy(bytes.data(), payload.data, payload.size);
      return bytes;
    }
  }
  std::abort();
}

std::uint8_t* find_args(AlignedBytes& payload, Opcode opcode) {
  const payload::Header& header = payload.header();
  for (const Call& call : Calls(payload.data() + header.calls_offset, header.calls_bytes)) {
    if (call.opcode == static_cast<std::uint8_t>(opcode)) {
      return const_cast<std::uint8_t*>(static_cast<const std::uint8_t*>(call.args()));
    }
  }
  std::abort();
}

}  // namespace cmsis_nn_delegate::testing
