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
    runtime/backend/test_tensor.h
  DEPS
    backend
    portable
    payload_builder
    executorch_runtime
)

# //runtime/backend:misuse_test
cmsis_nn_delegate_test(
  misuse_test
  SRCS
    runtime/backend/misuse_test.cc
    runtime/backend/test_tensor.h
  DEPS
    backend
    portable
    payload_builder
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
    runtime/kernels/cmsis_nn/add.cc
    runtime/kernels/cmsis_nn/add_broadcast.cc
    runtime/kernels/cmsis_nn/all.cc
    runtime/kernels/cmsis_nn/avg_pool2d.cc
    runtime/kernels/cmsis_nn/batch_matmul.cc
    runtime/kernels/cmsis_nn/conv2d.cc
    runtime/kernels/cmsis_nn/depthwise_conv2d.cc
    runtime/kernels/cmsis_nn/depthwise_conv2d_3x3.cc
    runtime/kernels/cmsis_nn/depthwise_conv2d_opt.cc
    runtime/kernels/cmsis_nn/fully_connected.cc
    runtime/kernels/cmsis_nn/fully_connected_per_tensor.cc
    runtime/kernels/cmsis_nn/max_pool2d.cc
    runtime/kernels/cmsis_nn/maximum.cc
    runtime/kernels/cmsis_nn/minimum.cc
    runtime/kernels/cmsis_nn/mul.cc
    runtime/kernels/cmsis_nn/mul_broadcast.cc
    runtime/kernels/cmsis_nn/softmax.cc
    runtime/kernels/cmsis_nn/transpose_conv2d.cc
    runtime/kernels/cmsis_nn/depthwise.h
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
    runtime/kernels/portable/adaptive_avg_pool2d.cc
    runtime/kernels/portable/add.cc
    runtime/kernels/portable/add.h
    runtime/kernels/portable/add_broadcast.cc
    runtime/kernels/portable/add_linear.cc
    runtime/kernels/portable/all.cc
    runtime/kernels/portable/arg_extremum.h
    runtime/kernels/portable/argmax.cc
    runtime/kernels/portable/argmin.cc
    runtime/kernels/portable/average.h
    runtime/kernels/portable/avg_pool2d.cc
    runtime/kernels/portable/batch_matmul.cc
    runtime/kernels/portable/broadcast.cc
    runtime/kernels/portable/conv2d.cc
    runtime/kernels/portable/conv2d_large.cc
    runtime/kernels/portable/conv2d_pairs.cc
    runtime/kernels/portable/conv2d_vectors.cc
    runtime/kernels/portable/conv2d_winograd.cc
    runtime/kernels/portable/convolution.h
    runtime/kernels/portable/depthwise_conv2d.cc
    runtime/kernels/portable/depthwise_conv2d_planes.cc
    runtime/kernels/portable/depthwise_conv2d_rows.cc
    runtime/kernels/portable/depthwise_conv2d_vectors.cc
    runtime/kernels/portable/dequantize.cc
    runtime/kernels/portable/div.cc
    runtime/kernels/portable/embedding.cc
    runtime/kernels/portable/embedding.h
    runtime/kernels/portable/embedding_int32.cc
    runtime/kernels/portable/fully_connected.cc
    runtime/kernels/portable/fully_connected_pairs.cc
    runtime/kernels/portable/fully_connected_per_tensor.cc
    runtime/kernels/portable/linear.h
    runtime/kernels/portable/log_softmax.cc
    runtime/kernels/portable/lookup.cc
    runtime/kernels/portable/masked_softmax.cc
    runtime/kernels/portable/max_pool2d.cc
    runtime/kernels/portable/max_pool2d_dilated.cc
    runtime/kernels/portable/maximum.cc
    runtime/kernels/portable/maximum_pooling.h
    runtime/kernels/portable/minimum.cc
    runtime/kernels/portable/mul.cc
    runtime/kernels/portable/mul.h
    runtime/kernels/portable/mul_broadcast.cc
    runtime/kernels/portable/normalize.cc
    runtime/kernels/portable/pad_nd.cc
    runtime/kernels/portable/prelu.cc
    runtime/kernels/portable/quantize.cc
    runtime/kernels/portable/reduce_extremum.h
    runtime/kernels/portable/reduce_max.cc
    runtime/kernels/portable/reduce_min.cc
    runtime/kernels/portable/reduce_sum.cc
    runtime/kernels/portable/resize.h
    runtime/kernels/portable/resize_bilinear.cc
    runtime/kernels/portable/resize_nearest.cc
    runtime/kernels/portable/softmax.cc
    runtime/kernels/portable/softmax_long.cc
    runtime/kernels/portable/softmax_rows.h
    runtime/kernels/portable/strided_copy.cc
    runtime/kernels/portable/transpose.cc
    runtime/kernels/portable/transpose_conv2d.cc
    runtime/kernels/portable/transpose_conv2d_any.cc
    runtime/kernels/portable/transposed.h
  HDRS
    runtime/kernels/portable/add_linear.h
    runtime/kernels/portable/broadcast.h
    runtime/kernels/portable/channel_planes.h
    runtime/kernels/portable/channel_rows.h
    runtime/kernels/portable/channel_vectors.h
    runtime/kernels/portable/conv2d_pairs.h
    runtime/kernels/portable/conv2d_vectors.h
    runtime/kernels/portable/conv2d_winograd.h
    runtime/kernels/portable/depthwise_3x3.h
    runtime/kernels/portable/depthwise_conv2d_planes.h
    runtime/kernels/portable/depthwise_conv2d_rows.h
    runtime/kernels/portable/depthwise_conv2d_vectors.h
    runtime/kernels/portable/fully_connected_pairs.h
    runtime/kernels/portable/pair_products.h
    runtime/kernels/portable/portable.h
    runtime/kernels/portable/requantize.h
    runtime/kernels/portable/row_products.h
    runtime/kernels/portable/vector_products.h
    runtime/kernels/portable/window.h
    runtime/kernels/portable/window_order.h
    runtime/kernels/portable/winograd.h
  COPTS
    $<IF:$<BOOL:${CMSIS_NN_DELEGATE_KERNELS_FOR_SIZE}>,-Os,-O2>
  DEPS
    headers
    payload
    kernel
)

# //runtime/kernels/portable:requantize_test
cmsis_nn_delegate_test(
  requantize_test
  SRCS
    runtime/kernels/portable/requantize_test.cc
  DEPS
    portable
    executorch_runtime
)

# //runtime/kernels/tuned:tuned
cmsis_nn_delegate_library(
  tuned
  SRCS
    runtime/kernels/tuned/add_linear.cc
    runtime/kernels/tuned/add_linear_dsp.S
    runtime/kernels/tuned/add_linear_members.h
    runtime/kernels/tuned/all.cc
    runtime/kernels/tuned/assembly.h
    runtime/kernels/tuned/channel_planes_dsp.S
    runtime/kernels/tuned/channel_planes_dsp.h
    runtime/kernels/tuned/channel_planes_members.h
    runtime/kernels/tuned/channel_rows_members.h
    runtime/kernels/tuned/channel_rows_scalar.S
    runtime/kernels/tuned/channel_rows_scalar.h
    runtime/kernels/tuned/channel_vectors_members.h
    runtime/kernels/tuned/channel_vectors_mve.S
    runtime/kernels/tuned/channel_vectors_mve.h
    runtime/kernels/tuned/conv2d_pairs.cc
    runtime/kernels/tuned/conv2d_pairs_any.cc
    runtime/kernels/tuned/conv2d_vectors.cc
    runtime/kernels/tuned/conv2d_winograd.cc
    runtime/kernels/tuned/depthwise_conv2d_planes.cc
    runtime/kernels/tuned/depthwise_conv2d_planes_stride1.cc
    runtime/kernels/tuned/depthwise_conv2d_planes_stride2.cc
    runtime/kernels/tuned/depthwise_conv2d_rows.cc
    runtime/kernels/tuned/depthwise_conv2d_vectors.cc
    runtime/kernels/tuned/fully_connected_pairs.cc
    runtime/kernels/tuned/inner_loops.h
    runtime/kernels/tuned/pair_products_dsp.S
    runtime/kernels/tuned/pair_products_dsp.h
    runtime/kernels/tuned/pair_products_members.h
    runtime/kernels/tuned/pair_products_scalar.S
    runtime/kernels/tuned/pair_products_scalar.h
    runtime/kernels/tuned/requantization_scalar.h
    runtime/kernels/tuned/row_products_dsp.S
    runtime/kernels/tuned/row_products_dsp.h
    runtime/kernels/tuned/row_products_members.h
    runtime/kernels/tuned/row_products_scalar.S
    runtime/kernels/tuned/row_products_scalar.h
    runtime/kernels/tuned/vector_products_members.h
    runtime/kernels/tuned/vector_products_mve.S
    runtime/kernels/tuned/vector_products_mve.h
    runtime/kernels/tuned/winograd_dsp.S
    runtime/kernels/tuned/winograd_dsp.h
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

# //runtime/payload:operator_fields
cmsis_nn_delegate_library(
  operator_fields HOST
  HDRS
    runtime/payload/operator_fields.h
  DEPS
    format
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

# //runtime/payload:payload_builder
cmsis_nn_delegate_library(
  payload_builder HOST TESTONLY
  SRCS
    runtime/payload/operator_payloads.h
    runtime/payload/payload_builder.cc
  HDRS
    runtime/payload/payload_builder.h
  DEPS
    crc32
    format
)

# //runtime/payload:put
cmsis_nn_delegate_library(
  put HOST
  HDRS
    runtime/payload/put.h
  DEPS
    format
)

# //runtime/payload:validate_test
cmsis_nn_delegate_test(
  validate_test
  SRCS
    runtime/payload/validate_test.cc
  DEPS
    operator_fields
    payload
    payload_builder
    portable
    executorch_runtime
)

# //runtime/payload:view_test
cmsis_nn_delegate_test(
  view_test
  SRCS
    runtime/payload/view_test.cc
  DEPS
    payload
    payload_builder
    portable
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
