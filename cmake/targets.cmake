# Generated from the BUILD files by `./bazelw run //cmake:generate`. Do not edit.

# //runtime/backend:backend
cmsis_nn_delegate_library(
  backend
  HOST_DEFINES
    ET_EVENT_TRACER_ENABLED
  SRCS
    runtime/backend/cmsis_nn_backend.cc
    runtime/backend/register.cc
  HDRS
    runtime/backend/apart.h
    runtime/backend/cmsis_nn_backend.h
    runtime/backend/register.h
  DEPS
    headers
    kernel
    payload
    crc32
)

# //runtime/backend:backend_profile
cmsis_nn_delegate_library(
  backend_profile
  DEFINES
    ET_EVENT_TRACER_ENABLED
  SRCS
    runtime/backend/cmsis_nn_backend.cc
    runtime/backend/register.cc
  HDRS
    runtime/backend/apart.h
    runtime/backend/cmsis_nn_backend.h
    runtime/backend/register.h
  DEPS
    headers
    kernel
    payload
    crc32
)

# //runtime/backend:cmsis_nn_backend_test
cmsis_nn_delegate_test(
  cmsis_nn_backend_test
  SRCS
    runtime/backend/cmsis_nn_backend_test.cc
  DEPS
    backend
    portable
    payload_builder
    test_tensor
    executorch_runtime
)

# //runtime/backend:misuse_test
cmsis_nn_delegate_test(
  misuse_test
  SRCS
    runtime/backend/misuse_test.cc
  DEPS
    backend
    portable
    payload_builder
    test_tensor
    executorch_runtime
)

# //runtime/backend:register_host
cmsis_nn_delegate_library(
  register_host HOST ALWAYSLINK
  SRCS
    runtime/backend/register_host.cc
  DEPS
    backend
    portable
)

# //runtime/executorch:headers
cmsis_nn_delegate_library(
  headers
  HOST_DEFINES
    ET_LOG_ENABLED=1
    ET_MIN_LOG_LEVEL=Error
  DEVICE_DEFINES
    ET_LOG_ENABLED=0
  DEPS
    executorch_headers
)

# //runtime/kernels/cmsis_nn:cmsis_nn
cmsis_nn_delegate_library(
  cmsis_nn
  NEEDS
    third_party_cmsis_nn
  DEFINES
    CMSIS_NN_DELEGATE_CMSIS_NN
  SRCS
    runtime/kernels/cmsis_nn/all.cc
    runtime/kernels/add/add_broadcast_cmsis_nn.cc
    runtime/kernels/add/add_broadcast_int16_cmsis_nn.cc
    runtime/kernels/add/add_cmsis_nn.cc
    runtime/kernels/add/add_int16_cmsis_nn.cc
    runtime/kernels/avg_pool2d/avg_pool2d_cmsis_nn.cc
    runtime/kernels/avg_pool2d/avg_pool2d_int16_cmsis_nn.cc
    runtime/kernels/batch_matmul/batch_matmul_cmsis_nn.cc
    runtime/kernels/batch_matmul/batch_matmul_int16_cmsis_nn.cc
    runtime/kernels/conv2d/conv2d_cmsis_nn.cc
    runtime/kernels/conv2d/conv2d_int16_cmsis_nn.cc
    runtime/kernels/conv2d/conv2d_int4_cmsis_nn.cc
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_3x3_cmsis_nn.cc
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_cmsis_nn.cc
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_cmsis_nn.h
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_opt_cmsis_nn.cc
    runtime/kernels/extremum/maximum_cmsis_nn.cc
    runtime/kernels/extremum/minimum_cmsis_nn.cc
    runtime/kernels/fully_connected/fully_connected_cmsis_nn.cc
    runtime/kernels/fully_connected/fully_connected_int16_cmsis_nn.cc
    runtime/kernels/fully_connected/fully_connected_int4_cmsis_nn.cc
    runtime/kernels/fully_connected/fully_connected_per_tensor_cmsis_nn.cc
    runtime/kernels/lstm/lstm_cmsis_nn.cc
    runtime/kernels/lstm/lstm_cmsis_nn.h
    runtime/kernels/lstm/lstm_lengths_cmsis_nn.cc
    runtime/kernels/max_pool2d/max_pool2d_cmsis_nn.cc
    runtime/kernels/max_pool2d/max_pool2d_int16_cmsis_nn.cc
    runtime/kernels/mul/mul_broadcast_cmsis_nn.cc
    runtime/kernels/mul/mul_broadcast_int16_cmsis_nn.cc
    runtime/kernels/mul/mul_cmsis_nn.cc
    runtime/kernels/mul/mul_int16_cmsis_nn.cc
    runtime/kernels/softmax/softmax_cmsis_nn.cc
    runtime/kernels/transpose_conv2d/transpose_conv2d_cmsis_nn.cc
  HDRS
    runtime/kernels/cmsis_nn/cmsis_nn.h
  DEPS
    convert
    rules
    headers
    portable
    payload
    kernel
)

# //runtime/kernels/cmsis_nn:convert
cmsis_nn_delegate_library(
  convert
  NEEDS
    third_party_cmsis_nn
  HDRS
    runtime/kernels/cmsis_nn/convert.h
  DEPS
    headers
    kernel
    third_party_cmsis_nn
)

# //runtime/kernels/cmsis_nn:rules
cmsis_nn_delegate_library(
  rules
  HDRS
    runtime/kernels/cmsis_nn/rules.h
)

# //runtime/kernels/portable:kernels_test
cmsis_nn_delegate_test(
  kernels_test
  SRCS
    runtime/kernels/portable/kernels_test.cc
  DEPS
    portable
    put
    executorch_runtime
)

# //runtime/kernels/portable:overlap_test
cmsis_nn_delegate_test(
  overlap_test
  SRCS
    runtime/kernels/portable/overlap_test.cc
  DEPS
    portable
    put
    executorch_runtime
)

# //runtime/kernels/portable:portable
cmsis_nn_delegate_library(
  portable
  SRCS
    runtime/kernels/portable/all.cc
    runtime/kernels/adaptive_avg_pool2d/adaptive_avg_pool2d_int16_portable.cc
    runtime/kernels/adaptive_avg_pool2d/adaptive_avg_pool2d_portable.cc
    runtime/kernels/add/add_broadcast_int16_portable.cc
    runtime/kernels/add/add_broadcast_portable.cc
    runtime/kernels/add/add_int16_portable.cc
    runtime/kernels/add/add_linear_portable.cc
    runtime/kernels/add/add_pairs_int16_portable.cc
    runtime/kernels/add/add_portable.cc
    runtime/kernels/arg_extremum/argmax_int16_portable.cc
    runtime/kernels/arg_extremum/argmax_portable.cc
    runtime/kernels/arg_extremum/argmin_int16_portable.cc
    runtime/kernels/arg_extremum/argmin_portable.cc
    runtime/kernels/avg_pool2d/avg_pool2d_int16_portable.cc
    runtime/kernels/avg_pool2d/avg_pool2d_portable.cc
    runtime/kernels/batch_matmul/batch_matmul_int16_portable.cc
    runtime/kernels/batch_matmul/batch_matmul_portable.cc
    runtime/kernels/common/broadcast.cc
    runtime/kernels/common/broadcast_int16.cc
    runtime/kernels/conv2d/conv2d_int16_portable.cc
    runtime/kernels/conv2d/conv2d_int4_pairs_portable.cc
    runtime/kernels/conv2d/conv2d_int4_portable.cc
    runtime/kernels/conv2d/conv2d_int4_vectors_portable.cc
    runtime/kernels/conv2d/conv2d_large_int16_portable.cc
    runtime/kernels/conv2d/conv2d_large_portable.cc
    runtime/kernels/conv2d/conv2d_pairs_int16_portable.cc
    runtime/kernels/conv2d/conv2d_pairs_portable.cc
    runtime/kernels/conv2d/conv2d_portable.cc
    runtime/kernels/conv2d/conv2d_vectors_portable.cc
    runtime/kernels/conv2d/conv2d_winograd_portable.cc
    runtime/kernels/conv2d/depthwise_conv2d_planes_int16_portable.cc
    runtime/kernels/conv2d_float32/conv2d_float32_portable.cc
    runtime/kernels/delay_line_read/delay_line_read_portable.cc
    runtime/kernels/delay_line_write/delay_line_write_portable.cc
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_planes_portable.cc
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_portable.cc
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_rows_portable.cc
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_vectors_portable.cc
    runtime/kernels/dequantize/dequantize_int16_portable.cc
    runtime/kernels/dequantize/dequantize_portable.cc
    runtime/kernels/div/div_int16_portable.cc
    runtime/kernels/div/div_portable.cc
    runtime/kernels/embedding/embedding_int32_portable.cc
    runtime/kernels/embedding/embedding_portable.cc
    runtime/kernels/extremum/maximum_int16_portable.cc
    runtime/kernels/extremum/maximum_portable.cc
    runtime/kernels/extremum/minimum_int16_portable.cc
    runtime/kernels/extremum/minimum_portable.cc
    runtime/kernels/fully_connected/fully_connected_int16_portable.cc
    runtime/kernels/fully_connected/fully_connected_int4_pairs_portable.cc
    runtime/kernels/fully_connected/fully_connected_int4_portable.cc
    runtime/kernels/fully_connected/fully_connected_pairs_int16_portable.cc
    runtime/kernels/fully_connected/fully_connected_pairs_portable.cc
    runtime/kernels/fully_connected/fully_connected_per_tensor_portable.cc
    runtime/kernels/fully_connected/fully_connected_portable.cc
    runtime/kernels/function_float32/function_float32_portable.cc
    runtime/kernels/gru/gru_lengths_pairs_portable.cc
    runtime/kernels/gru/gru_lengths_portable.cc
    runtime/kernels/gru/gru_lengths_vectors_portable.cc
    runtime/kernels/gru/gru_pairs_portable.cc
    runtime/kernels/gru/gru_portable.cc
    runtime/kernels/gru/gru_vectors_portable.cc
    runtime/kernels/keep/keep_portable.cc
    runtime/kernels/last_step/last_step_portable.cc
    runtime/kernels/leaky_sum/leaky_sum_lookup_portable.cc
    runtime/kernels/leaky_sum/leaky_sum_portable.cc
    runtime/kernels/linear_float32/linear_float32_portable.cc
    runtime/kernels/log_softmax/log_softmax_portable.cc
    runtime/kernels/lookup/lookup_int16_portable.cc
    runtime/kernels/lookup/lookup_portable.cc
    runtime/kernels/lstm/lstm_lengths_pairs_portable.cc
    runtime/kernels/lstm/lstm_lengths_portable.cc
    runtime/kernels/lstm/lstm_lengths_vectors_portable.cc
    runtime/kernels/lstm/lstm_pairs_portable.cc
    runtime/kernels/lstm/lstm_portable.cc
    runtime/kernels/lstm/lstm_vectors_portable.cc
    runtime/kernels/lstm_projected/lstm_projected_lengths_portable.cc
    runtime/kernels/lstm_projected/lstm_projected_pairs_portable.cc
    runtime/kernels/lstm_projected/lstm_projected_portable.cc
    runtime/kernels/lstm_projected/lstm_projected_vectors_portable.cc
    runtime/kernels/masked_softmax/masked_softmax_portable.cc
    runtime/kernels/max_pool2d/max_pool2d_dilated_int16_portable.cc
    runtime/kernels/max_pool2d/max_pool2d_dilated_portable.cc
    runtime/kernels/max_pool2d/max_pool2d_int16_portable.cc
    runtime/kernels/max_pool2d/max_pool2d_portable.cc
    runtime/kernels/mul/mul_broadcast_int16_portable.cc
    runtime/kernels/mul/mul_broadcast_portable.cc
    runtime/kernels/mul/mul_int16_portable.cc
    runtime/kernels/mul/mul_portable.cc
    runtime/kernels/normalize/normalize_int16_portable.cc
    runtime/kernels/normalize/normalize_portable.cc
    runtime/kernels/normalize_float32/normalize_float32_portable.cc
    runtime/kernels/pad_nd/pad_nd_float32_portable.cc
    runtime/kernels/pad_nd/pad_nd_int16_portable.cc
    runtime/kernels/pad_nd/pad_nd_portable.cc
    runtime/kernels/pair_float32/pair_float32_portable.cc
    runtime/kernels/pool2d_float32/pool2d_float32_portable.cc
    runtime/kernels/prelu/prelu_int16_portable.cc
    runtime/kernels/prelu/prelu_portable.cc
    runtime/kernels/quantize/quantize_int16_portable.cc
    runtime/kernels/quantize/quantize_portable.cc
    runtime/kernels/recall/recall_portable.cc
    runtime/kernels/reduce_extremum/reduce_max_int16_portable.cc
    runtime/kernels/reduce_extremum/reduce_max_portable.cc
    runtime/kernels/reduce_extremum/reduce_min_int16_portable.cc
    runtime/kernels/reduce_extremum/reduce_min_portable.cc
    runtime/kernels/reduce_float32/reduce_float32_portable.cc
    runtime/kernels/reduce_sum/reduce_sum_int16_portable.cc
    runtime/kernels/reduce_sum/reduce_sum_portable.cc
    runtime/kernels/rescale/rescale_int16_portable.cc
    runtime/kernels/rescale/rescale_int16_to_int8_portable.cc
    runtime/kernels/rescale/rescale_int8_to_int16_portable.cc
    runtime/kernels/resize_bilinear/resize_bilinear_int16_portable.cc
    runtime/kernels/resize_bilinear/resize_bilinear_portable.cc
    runtime/kernels/resize_nearest/resize_nearest_int16_portable.cc
    runtime/kernels/resize_nearest/resize_nearest_portable.cc
    runtime/kernels/rnn/rnn_lengths_portable.cc
    runtime/kernels/rnn/rnn_portable.cc
    runtime/kernels/selective_state/selective_state_portable.cc
    runtime/kernels/softmax/softmax_int16_portable.cc
    runtime/kernels/softmax/softmax_long_portable.cc
    runtime/kernels/softmax/softmax_portable.cc
    runtime/kernels/softmax_float32/softmax_float32_portable.cc
    runtime/kernels/strided_copy/strided_copy_float32_portable.cc
    runtime/kernels/strided_copy/strided_copy_int16_portable.cc
    runtime/kernels/strided_copy/strided_copy_portable.cc
    runtime/kernels/transpose/transpose_float32_portable.cc
    runtime/kernels/transpose/transpose_int16_portable.cc
    runtime/kernels/transpose/transpose_portable.cc
    runtime/kernels/transpose_conv2d/transpose_conv2d_any_int16_portable.cc
    runtime/kernels/transpose_conv2d/transpose_conv2d_any_portable.cc
    runtime/kernels/transpose_conv2d/transpose_conv2d_portable.cc
  HDRS
    runtime/kernels/adaptive_avg_pool2d/adaptive_avg_pool2d.h
    runtime/kernels/add/add.h
    runtime/kernels/add/add_linear.h
    runtime/kernels/add/add_pairs_int16.h
    runtime/kernels/arg_extremum/arg_extremum.h
    runtime/kernels/avg_pool2d/average_pooling.h
    runtime/kernels/batch_matmul/batch_matmul.h
    runtime/kernels/common/average.h
    runtime/kernels/common/broadcast.h
    runtime/kernels/common/broadcast_int16.h
    runtime/kernels/common/broadcast_rows.h
    runtime/kernels/common/broadcast_tensors.h
    runtime/kernels/common/channel_planes.h
    runtime/kernels/common/channel_planes_int16.h
    runtime/kernels/common/delay_line.h
    runtime/kernels/common/depthwise_3x3.h
    runtime/kernels/common/depthwise_planes.h
    runtime/kernels/common/float_math.h
    runtime/kernels/common/gate_lines.h
    runtime/kernels/common/gate_pairs.h
    runtime/kernels/common/gate_rows.h
    runtime/kernels/common/gate_vectors.h
    runtime/kernels/common/gru_units.h
    runtime/kernels/common/held.h
    runtime/kernels/common/interpolate.h
    runtime/kernels/common/kept_sum.h
    runtime/kernels/common/lstm_product.h
    runtime/kernels/common/lstm_units.h
    runtime/kernels/common/nibbles.h
    runtime/kernels/common/pair_products.h
    runtime/kernels/common/pair_products_int16.h
    runtime/kernels/common/power_table.h
    runtime/kernels/common/recurrent.h
    runtime/kernels/common/recurrent_steps.h
    runtime/kernels/common/requantize.h
    runtime/kernels/common/resize.h
    runtime/kernels/common/row_products.h
    runtime/kernels/common/row_products_int16.h
    runtime/kernels/common/sequence_lengths.h
    runtime/kernels/common/sigmoid_table.h
    runtime/kernels/common/softmax_rows.h
    runtime/kernels/common/softmax_tables.h
    runtime/kernels/common/vector_products.h
    runtime/kernels/common/window.h
    runtime/kernels/conv2d/conv2d_int4_vectors.h
    runtime/kernels/conv2d/conv2d_pairs.h
    runtime/kernels/conv2d/conv2d_vectors.h
    runtime/kernels/conv2d/conv2d_winograd.h
    runtime/kernels/conv2d/convolution.h
    runtime/kernels/conv2d/convolution_int16.h
    runtime/kernels/conv2d/window_order.h
    runtime/kernels/conv2d/winograd.h
    runtime/kernels/depthwise_conv2d/channel_rows.h
    runtime/kernels/depthwise_conv2d/channel_vectors.h
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_rows.h
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_vectors.h
    runtime/kernels/div/div.h
    runtime/kernels/embedding/embedding.h
    runtime/kernels/extremum/extremum.h
    runtime/kernels/fully_connected/fully_connected_pairs.h
    runtime/kernels/fully_connected/linear.h
    runtime/kernels/gru/gru.h
    runtime/kernels/leaky_sum/leaky_sum.h
    runtime/kernels/lstm/lstm.h
    runtime/kernels/lstm_projected/lstm_projected.h
    runtime/kernels/lstm_projected/lstm_projected_rows.h
    runtime/kernels/max_pool2d/maximum_pooling.h
    runtime/kernels/mul/mul.h
    runtime/kernels/normalize/normalize.h
    runtime/kernels/pad_nd/pad_nd.h
    runtime/kernels/prelu/prelu.h
    runtime/kernels/quantize/round_half_even.h
    runtime/kernels/reduce_extremum/reduce_extremum.h
    runtime/kernels/reduce_sum/reduce_sum.h
    runtime/kernels/rescale/rescale.h
    runtime/kernels/resize_bilinear/resize_bilinear.h
    runtime/kernels/resize_nearest/resize_nearest.h
    runtime/kernels/rnn/rnn.h
    runtime/kernels/strided_copy/strided_copy.h
    runtime/kernels/transpose/transpose.h
    runtime/kernels/transpose_conv2d/transposed.h
    runtime/kernels/portable/portable.h
  COPTS
    $<IF:$<BOOL:${CMSIS_NN_DELEGATE_KERNELS_FOR_SIZE}>,-Os,-O2>
    -ffp-contract=off
  DEPS
    headers
    payload
    kernel
)

# //runtime/kernels/tuned:tuned
cmsis_nn_delegate_library(
  tuned
  SRCS
    runtime/kernels/tuned/all.cc
    runtime/kernels/tuned/assembly.h
    runtime/kernels/tuned/inner_loops.h
    runtime/kernels/add/add_linear_dsp.S
    runtime/kernels/add/add_linear_members.h
    runtime/kernels/add/add_linear_tuned.cc
    runtime/kernels/add/add_pairs_int16_dsp.S
    runtime/kernels/add/add_pairs_int16_members.h
    runtime/kernels/add/add_pairs_int16_tuned.cc
    runtime/kernels/common/channel_planes_dsp.S
    runtime/kernels/common/channel_planes_dsp.h
    runtime/kernels/common/channel_planes_int16_dsp.S
    runtime/kernels/common/channel_planes_int16_dsp.h
    runtime/kernels/common/channel_planes_loops_dsp.h
    runtime/kernels/common/channel_planes_members.h
    runtime/kernels/common/eight_channels_dsp.h
    runtime/kernels/common/four_channels_dsp.h
    runtime/kernels/common/gate_lines_mve.h
    runtime/kernels/common/gate_pairs_dsp.S
    runtime/kernels/common/gate_pairs_dsp.h
    runtime/kernels/common/gate_rows_members.h
    runtime/kernels/common/gate_vectors_mve.S
    runtime/kernels/common/gate_vectors_mve.h
    runtime/kernels/common/gru_units_dsp.S
    runtime/kernels/common/gru_units_dsp.h
    runtime/kernels/common/gru_units_members.h
    runtime/kernels/common/gru_units_mve.S
    runtime/kernels/common/gru_units_mve.h
    runtime/kernels/common/lstm_units_dsp.S
    runtime/kernels/common/lstm_units_dsp.h
    runtime/kernels/common/lstm_units_members.h
    runtime/kernels/common/lstm_units_mve.S
    runtime/kernels/common/lstm_units_mve.h
    runtime/kernels/common/pair_products_dsp.S
    runtime/kernels/common/pair_products_dsp.h
    runtime/kernels/common/pair_products_int16_dsp.S
    runtime/kernels/common/pair_products_int16_dsp.h
    runtime/kernels/common/pair_products_members.h
    runtime/kernels/common/pair_products_scalar.S
    runtime/kernels/common/pair_products_scalar.h
    runtime/kernels/common/requantization_scalar.h
    runtime/kernels/common/row_products_dsp.S
    runtime/kernels/common/row_products_dsp.h
    runtime/kernels/common/row_products_int16_dsp.S
    runtime/kernels/common/row_products_int16_dsp.h
    runtime/kernels/common/row_products_members.h
    runtime/kernels/common/row_products_scalar.S
    runtime/kernels/common/row_products_scalar.h
    runtime/kernels/common/vector_products_members.h
    runtime/kernels/common/vector_products_mve.S
    runtime/kernels/common/vector_products_mve.h
    runtime/kernels/conv2d/conv2d_int4_pairs_tuned.cc
    runtime/kernels/conv2d/conv2d_int4_vectors_tuned.cc
    runtime/kernels/conv2d/conv2d_pairs_any_tuned.cc
    runtime/kernels/conv2d/conv2d_pairs_int16_tuned.cc
    runtime/kernels/conv2d/conv2d_pairs_tuned.cc
    runtime/kernels/conv2d/conv2d_vectors_tuned.cc
    runtime/kernels/conv2d/conv2d_winograd_tuned.cc
    runtime/kernels/conv2d/depthwise_conv2d_planes_int16_tuned.cc
    runtime/kernels/conv2d/winograd_dsp.S
    runtime/kernels/conv2d/winograd_dsp.h
    runtime/kernels/depthwise_conv2d/channel_rows_members.h
    runtime/kernels/depthwise_conv2d/channel_rows_scalar.S
    runtime/kernels/depthwise_conv2d/channel_rows_scalar.h
    runtime/kernels/depthwise_conv2d/channel_vectors_members.h
    runtime/kernels/depthwise_conv2d/channel_vectors_mve.S
    runtime/kernels/depthwise_conv2d/channel_vectors_mve.h
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_planes_stride1_tuned.cc
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_planes_stride2_tuned.cc
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_planes_tuned.cc
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_rows_tuned.cc
    runtime/kernels/depthwise_conv2d/depthwise_conv2d_vectors_tuned.cc
    runtime/kernels/fully_connected/fully_connected_int4_pairs_tuned.cc
    runtime/kernels/fully_connected/fully_connected_pairs_int16_tuned.cc
    runtime/kernels/fully_connected/fully_connected_pairs_tuned.cc
    runtime/kernels/gru/gru_lengths_pairs_tuned.cc
    runtime/kernels/gru/gru_lengths_vectors_tuned.cc
    runtime/kernels/gru/gru_pairs_tuned.cc
    runtime/kernels/gru/gru_vectors_tuned.cc
    runtime/kernels/lstm/lstm_lengths_pairs_tuned.cc
    runtime/kernels/lstm/lstm_lengths_vectors_tuned.cc
    runtime/kernels/lstm/lstm_pairs_tuned.cc
    runtime/kernels/lstm/lstm_vectors_tuned.cc
    runtime/kernels/lstm_projected/lstm_projected_pairs_tuned.cc
    runtime/kernels/lstm_projected/lstm_projected_vectors_tuned.cc
  HDRS
    runtime/kernels/tuned/tuned.h
  COPTS
    $<IF:$<BOOL:${CMSIS_NN_DELEGATE_KERNELS_FOR_SIZE}>,-Os,-O2>
  DEPS
    headers
    portable
    payload
    kernel
)

# //runtime/kernels/tuned:tuned_and_cmsis_nn
cmsis_nn_delegate_library(
  tuned_and_cmsis_nn
  NEEDS
    third_party_cmsis_nn
  SRCS
    runtime/kernels/tuned/with_cmsis_nn.cc
  DEPS
    tuned
    cmsis_nn
)

# //runtime/kernels:gate_lines_test
cmsis_nn_delegate_test(
  gate_lines_test
  SRCS
    runtime/kernels/common/gate_lines_test.cc
  DEPS
    portable
    executorch_runtime
)

# //runtime/kernels:requantize_test
cmsis_nn_delegate_test(
  requantize_test
  SRCS
    runtime/kernels/common/requantize_test.cc
  DEPS
    portable
    executorch_runtime
)

# //runtime/payload:bases
cmsis_nn_delegate_library(
  bases
  HDRS
    runtime/payload/bases.h
  DEPS
    format
)

# //runtime/payload:crc32
cmsis_nn_delegate_library(
  crc32
  SRCS
    runtime/payload/crc32.cc
  HDRS
    runtime/payload/crc32.h
  DEPS
    format
)

# //runtime/payload:crc32_test
cmsis_nn_delegate_test(
  crc32_test
  SRCS
    runtime/payload/crc32_test.cc
  DEPS
    crc32
    payload_builder
)

# //runtime/payload:direct_calls
cmsis_nn_delegate_library(
  direct_calls
  HDRS
    runtime/payload/direct_calls.h
  DEPS
    bases
    format
)

# //runtime/payload:format
cmsis_nn_delegate_library(
  format
  HDRS
    runtime/payload/calls.h
    runtime/payload/format.h
)

# //runtime/payload:geometry_test
cmsis_nn_delegate_test(
  geometry_test
  SRCS
    runtime/payload/bounds.cc
    runtime/payload/bounds.h
    runtime/payload/call_check.h
    runtime/payload/geometry.cc
    runtime/payload/geometry.h
    runtime/payload/geometry_test.cc
    runtime/payload/multipliers.h
  COPTS
    -UET_LOG_ENABLED
    -DET_LOG_ENABLED=0
  DEPS
    format
    kernel
)

# //runtime/payload:kernel
cmsis_nn_delegate_library(
  kernel
  HDRS
    runtime/payload/kernel.h
  DEPS
    bases
    format
    operators
    headers
)

# //runtime/payload:operators
cmsis_nn_delegate_library(
  operators
  HDRS
    runtime/payload/operators.h
  DEPS
    format
)

# //runtime/payload:payload
cmsis_nn_delegate_library(
  payload
  SRCS
    runtime/payload/bounds.cc
    runtime/payload/bounds.h
    runtime/payload/call_check.h
    runtime/payload/geometry.cc
    runtime/payload/geometry.h
    runtime/payload/kernel_names.h
    runtime/payload/multipliers.h
    runtime/payload/operators.cc
    runtime/payload/validate.cc
    runtime/payload/validate.h
    runtime/payload/values.h
    runtime/payload/view.cc
  HDRS
    runtime/payload/view.h
  COPTS
    -O2
  DEPS
    format
    kernel
    operators
    headers
)

# //runtime/payload:validate_test
cmsis_nn_delegate_test(
  validate_test
  SRCS
    runtime/payload/validate_test.cc
  DEPS
    payload
    portable
    operator_fields
    payload_builder
    executorch_runtime
)

# //runtime/payload:view_test
cmsis_nn_delegate_test(
  view_test
  SRCS
    runtime/payload/view_test.cc
  DEPS
    payload
    portable
    payload_builder
    executorch_runtime
)

# //runtime/standalone:et_shim
cmsis_nn_delegate_library(
  et_shim DEVICE ALWAYSLINK
  SRCS
    runtime/standalone/et_shim.cc
  DEPS
    headers
)

# //runtime/standalone:model
cmsis_nn_delegate_library(
  model
  SRCS
    runtime/standalone/model.cc
  HDRS
    runtime/standalone/model.h
  DEPS
    backend
    headers
    payload
    format
)

# //runtime/standalone:model_test
cmsis_nn_delegate_test(
  model_test
  SRCS
    runtime/standalone/model_test.cc
  DEPS
    model
    portable
    payload_builder
    executorch_runtime
)

# //tests/payloads:operator_fields
cmsis_nn_delegate_library(
  operator_fields HOST TESTONLY
  HDRS
    tests/payloads/operator_field.h
    tests/payloads/operator_fields.h
  DEPS
    format
)

# //tests/payloads:payload_builder
cmsis_nn_delegate_library(
  payload_builder HOST TESTONLY
  SRCS
    tests/payloads/operator_payloads.h
    tests/payloads/payload_builder.cc
  HDRS
    tests/payloads/payload_builder.h
  DEPS
    crc32
    format
)

# //tests/payloads:put
cmsis_nn_delegate_library(
  put HOST TESTONLY
  HDRS
    tests/payloads/put.h
  DEPS
    format
)

# //tests/payloads:test_tensor
cmsis_nn_delegate_library(
  test_tensor HOST TESTONLY
  HDRS
    tests/payloads/test_tensor.h
  DEPS
    payload_builder
    headers
)
