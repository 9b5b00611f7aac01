"""The sources of CMSIS-NN that runtime/kernels/cmsis_nn needs: int8 only, listed so that nothing else gets in.

Found by following undefined symbols on Armv6-M, M4, M55 and the host; a missing one is an undefined
symbol at link time.
"""

CMSIS_NN_SOURCES = [
    # Convolutions.
    "Source/ConvolutionFunctions/arm_convolve_1_x_n_s8.c",
    "Source/ConvolutionFunctions/arm_convolve_1x1_s8.c",
    "Source/ConvolutionFunctions/arm_convolve_1x1_s8_fast.c",
    "Source/ConvolutionFunctions/arm_convolve_get_buffer_sizes_s8.c",
    "Source/ConvolutionFunctions/arm_convolve_s8.c",
    "Source/ConvolutionFunctions/arm_convolve_wrapper_s8.c",
    "Source/ConvolutionFunctions/arm_nn_mat_mult_kernel_row_offset_s8_s16.c",
    "Source/ConvolutionFunctions/arm_nn_mat_mult_kernel_s8_s16.c",
    "Source/NNSupportFunctions/arm_nn_mat_mult_nt_t_s8.c",
    "Source/NNSupportFunctions/arm_q7_to_q15_with_offset.c",
    "Source/NNSupportFunctions/arm_s8_to_s16_unordered_with_offset.c",
    # Depthwise convolutions.
    "Source/ConvolutionFunctions/arm_depthwise_conv_3x3_s8.c",
    "Source/ConvolutionFunctions/arm_depthwise_conv_get_buffer_sizes_s8.c",
    "Source/ConvolutionFunctions/arm_depthwise_conv_s8.c",
    "Source/ConvolutionFunctions/arm_depthwise_conv_s8_opt.c",
    "Source/ConvolutionFunctions/arm_depthwise_conv_wrapper_s8.c",
    "Source/NNSupportFunctions/arm_nn_depthwise_conv_nt_t_s8.c",
    "Source/TransposeFunctions/arm_transpose_s8.c",
    # Linear layers.
    "Source/NNSupportFunctions/arm_nn_vec_mat_mult_t_per_ch_s8.c",
    "Source/NNSupportFunctions/arm_nn_vec_mat_mult_t_s8.c",
    # The rest.
    "Source/BasicMathFunctions/arm_elementwise_add_s8.c",
    "Source/PoolingFunctions/arm_avgpool_get_buffer_sizes_s8.c",
    "Source/PoolingFunctions/arm_avgpool_s8.c",
    "Source/PoolingFunctions/arm_max_pool_s8.c",
    "Source/SoftmaxFunctions/arm_nn_softmax_common_s8.c",
    "Source/SoftmaxFunctions/arm_softmax_s8.c",
]
