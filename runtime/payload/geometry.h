// Checks how the sizes of a call fit together; operators name these checks as `geometry`.
//
// Once those of convolutions and pooling hold, every dimension, stride and dilation is in
// [1, kMaxDim] and every padding in [0, kMaxDim], and no window begins or ends beyond 2^30.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/payload/call_check.h"

namespace cmsis_nn_delegate::geometry {

bool convolution(const CallCheck& call, const payload::ConvParams& params, const payload::Dims& in,
                 const payload::Dims& filter, const payload::Dims& out);
bool convolution(const CallCheck& call, const payload::PackedConvParams& params,
                 const payload::PackedDims& in, const payload::PackedDims& filter,
                 const payload::PackedDims& out);

inline bool convolution(const CallCheck& call, const payload::ConvInt16Params& p,
                        const payload::Dims& in, const payload::Dims& filter,
                        const payload::Dims& out) {
  return convolution(call, payload::ConvParams{0, 0, p.stride, p.padding, p.dilation, {}}, in,
                     filter, out);
}

inline bool convolution(const CallCheck& call, const payload::PackedConvInt16Params& p,
                        const payload::PackedDims& in, const payload::PackedDims& filter,
                        const payload::PackedDims& out) {
  return convolution(call, payload::PackedConvParams{0, 0, p.stride, p.padding, p.dilation, {}}, in,
                     filter, out);
}

inline bool convolution(const CallCheck& call, const payload::ConvFloat32Params& p,
                        const payload::Dims& in, const payload::Dims& filter,
                        const payload::Dims& out) {
  return convolution(call, payload::ConvParams{0, 0, p.stride, p.padding, p.dilation, {}}, in,
                     filter, out);
}

template <typename Args>
bool convolution(const CallCheck& call, const Args& args) {
  return convolution(call, args.params, args.input_dims, args.filter_dims, args.output_dims);
}

bool depthwise_convolution(const CallCheck& call, const payload::PackedDwConvParams& params,
                           const payload::PackedDims& in, const payload::PackedDims& filter,
                           const payload::PackedDims& out);

template <typename Args>
bool depthwise_convolution(const CallCheck& call, const Args& args) {
  return depthwise_convolution(call, args.params, args.input_dims, args.filter_dims,
                               args.output_dims);
}

/// Any sizes fit together: an output that no pixel adds to is the bias.
bool transposed_convolution(const CallCheck& call, const payload::ConvParams& params,
                            const payload::Dims& in, const payload::Dims& filter,
                            const payload::Dims& out);

inline bool transposed_convolution(const CallCheck& call, const payload::ConvInt16Params& p,
                                   const payload::Dims& in, const payload::Dims& filter,
                                   const payload::Dims& out) {
  return transposed_convolution(
      call, payload::ConvParams{0, 0, p.stride, p.padding, p.dilation, {}}, in, filter, out);
}

template <typename Args>
bool transposed_convolution(const CallCheck& call, const Args& args) {
  return transposed_convolution(call, args.params, args.input_dims, args.filter_dims,
                                args.output_dims);
}

/// Pooling windows must overlap the input: for an empty window a kernel would divide by zero, or
/// leave the output as it was.
bool pooling(const CallCheck& call, const payload::PoolParams& params, const payload::Dims& in,
             const payload::Dims& filter, const payload::Dims& out);

inline bool pooling(const CallCheck& call, const payload::PoolInt16Params& p,
                    const payload::Dims& in, const payload::Dims& filter,
                    const payload::Dims& out) {
  return pooling(call, payload::PoolParams{p.stride, p.padding, {}}, in, filter, out);
}

inline bool pooling(const CallCheck& call, const payload::PoolFloat32Params& p,
                    const payload::Dims& in, const payload::Dims& filter,
                    const payload::Dims& out) {
  return pooling(call, payload::PoolParams{p.stride, p.padding, {}}, in, filter, out);
}

template <typename Args>
bool pooling(const CallCheck& call, const Args& args) {
  return pooling(call, args.params, args.input_dims, args.filter_dims, args.output_dims);
}

/// The same with gaps in the windows, of which some may see no pixel.
bool dilated_pooling(const CallCheck& call, const payload::MaxPool2dDilatedArgs& args);

inline bool dilated_pooling(const CallCheck& call, const payload::MaxPool2dDilatedInt16Args& a) {
  return dilated_pooling(call,
                         payload::MaxPool2dDilatedArgs{a.input,
                                                       a.output,
                                                       {a.params.stride, a.params.padding, {}},
                                                       a.input_dims,
                                                       a.filter_dims,
                                                       a.output_dims,
                                                       a.dilation});
}

/// Any output size fits.
bool resizing(const CallCheck& call, const payload::Dims& in, const payload::Dims& out);

template <typename Args>
bool resizing(const CallCheck& call, const Args& args) {
  return resizing(call, args.input_dims, args.output_dims);
}

/// What is written is what is not seen, and the blank is a class.
bool ctc_greedy(const CallCheck& call, std::int32_t steps, std::int32_t classes,
                std::int32_t written, std::int32_t blank, std::int32_t seen);

template <typename Args>
bool ctc_greedy(const CallCheck& call, const Args& a) {
  return ctc_greedy(call, a.steps, a.classes, a.written, a.blank, a.seen);
}

/// The crop lies in the frame, whose pixels have two bytes and come in pairs; the output has one channel or three.
bool camera_image(const CallCheck& call, const payload::CameraImageArgs& args);

/// A batch of one input is as large as that of the output, or 1.
bool batch_matmul(const CallCheck& call, const payload::Dims& a, const payload::Dims& b,
                  const payload::Dims& out);

template <typename Args>
bool batch_matmul(const CallCheck& call, const Args& args) {
  return batch_matmul(call, args.input1_dims, args.input2_dims, args.output_dims);
}

/// Every group has parameters, and at most as many elements as the sums of its kernel take.
bool normalize(const CallCheck& call, const payload::NormalizeArgs& args);
bool normalize(const CallCheck& call, const payload::NormalizeInt16Args& args);

/// Every element that the copy reads or writes lies in its tensor, and there are at most as many
/// steps as the output has elements.
bool strided_copy(const CallCheck& call, const payload::StridedCopyArgs& args);

template <typename Args>
bool strided_copy(const CallCheck& call, const Args& args) {
  const payload::StridedCopyArgs same = {args.input,        args.output,       args.input_count,
                                         args.output_count, args.input_offset, args.output_offset,
                                         args.axis0,        args.axis1,        args.axis2,
                                         args.axis3,        args.axis4,        args.axis5};
  return strided_copy(call, same);
}

/// Each dimension of an operand is that of the output or 1, and not 1 in both unless it is in the output:
/// then steps of 0 along what is 1 stay inside of both.
bool broadcast(const CallCheck& call, const payload::Dims& in1, const payload::Dims& in2,
               const payload::Dims& out);

template <typename Args>
bool broadcast(const CallCheck& call, const Args& args) {
  return broadcast(call, args.input1_dims, args.input2_dims, args.output_dims);
}

/// The sizes give those of the operands, and reflection reaches no further than the input.
bool pad_nd(const CallCheck& call, const payload::PadNdArgs& args);

template <typename Args>
bool pad_nd(const CallCheck& call, const Args& args) {
  const payload::PadNdArgs same = {
      args.input, args.output, args.input_count, args.output_count, args.row_size, args.mode, 0,
      args.axis0, args.axis1,  args.axis2,       args.axis3,        args.axis4,    args.axis5};
  return pad_nd(call, same);
}

/// Every index that is read lies in the input. Their values are checked when they are read.
bool embedding(const CallCheck& call, std::int32_t count, std::int32_t first, std::int32_t outer,
               std::int32_t outer_step, std::int32_t inner, std::int32_t inner_step);

template <typename Args>
bool embedding(const CallCheck& call, const Args& args) {
  return embedding(call, args.input_count, args.first, args.outer, args.outer_step, args.inner,
                   args.inner_step);
}

/// Each sequence of a batch has a length, of 4 or 8 bytes.
bool sequence_lengths(const CallCheck& call, std::int32_t length_bytes, std::int32_t batch);

template <typename Args>
bool sequence_lengths(const CallCheck& call, const Args& args) {
  return sequence_lengths(call, args.length_bytes, args.batch);
}

/// The rows are those of `gates` gates. Sizes of operands are products of the others.
bool recurrent_layer(const CallCheck& call, std::int32_t rows, std::int32_t hidden,
                     std::int32_t gates);

template <typename Args, typename = void>
inline constexpr bool kHasResetGate = false;
template <typename Args>
inline constexpr bool kHasResetGate<Args, std::void_t<decltype(Args::reset_gate)>> = true;

template <typename Args, typename = void>
inline constexpr bool kHasForgetGate = false;
template <typename Args>
inline constexpr bool kHasForgetGate<Args, std::void_t<decltype(Args::forget_gate)>> = true;

/// How many gates calls with this argument block have: those that it has a scale for.
template <typename Args>
inline constexpr std::int32_t kGates = kHasForgetGate<Args> ? 4 : (kHasResetGate<Args> ? 3 : 1);

template <typename Args, typename = void>
inline constexpr bool kHasLengths = false;
template <typename Args>
inline constexpr bool kHasLengths<Args, std::void_t<decltype(Args::length_bytes)>> = true;

template <typename Args>
bool recurrent_layer(const CallCheck& call, const Args& args) {
  if (!recurrent_layer(call, args.rows, args.hidden, kGates<Args>)) {
    return false;
  }
  if constexpr (kHasLengths<Args>) {
    return sequence_lengths(call, args);
  } else {
    return true;
  }
}

template <typename Args>
bool last_step(const CallCheck& call, const Args& args) {
  return sequence_lengths(call, args);
}

/// A state has one initial number, or one for each element.
bool held(const CallCheck& call, std::int32_t nbytes, std::int32_t initial_bytes);

template <typename Args>
bool held(const CallCheck& call, const Args& args) {
  return held(call, args.nbytes, args.initial_bytes);
}

/// A delay line has whole rows, and one initial number or one for each element; `count` of its rows are copied.
bool delay_line(const CallCheck& call, std::int32_t state_bytes, std::int32_t initial_bytes,
                std::int32_t rows, std::int32_t row_bytes, std::int32_t count);

/// All rows that are read are rows of the line.
bool delay_line(const CallCheck& call, const payload::DelayLineReadArgs& args);

inline bool delay_line(const CallCheck& call, const payload::DelayLineWriteArgs& args) {
  return delay_line(call, args.state_bytes, args.initial_bytes, args.rows, args.row_bytes,
                    args.count);
}

bool log_mel(const CallCheck& call, std::int32_t samples, std::int32_t hop, std::int32_t frames,
             std::int32_t frame_length, std::int32_t fft_length);

template <typename Args>
bool log_mel(const CallCheck& call, const Args& args) {
  return log_mel(call, args.samples, args.hop, args.frames, args.frame_length, args.fft_length);
}

}  // namespace cmsis_nn_delegate::geometry
