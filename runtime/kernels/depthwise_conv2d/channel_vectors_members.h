// Where assembly finds the members of ChannelVectorRow.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define CHANNEL_VECTOR_ROW_ROWS 0
#define CHANNEL_VECTOR_ROW_TABLE 12
#define CHANNEL_VECTOR_ROW_OUTPUT 16
#define CHANNEL_VECTOR_ROW_CHANNELS 20
#define CHANNEL_VECTOR_ROW_OUTPUTS 24
#define CHANNEL_VECTOR_ROW_STRIDE 28
#define CHANNEL_VECTOR_ROW_ZERO_POINT 32
#define CHANNEL_VECTOR_ROW_LEAST 36
#define CHANNEL_VECTOR_ROW_MOST 40
#define CHANNEL_VECTOR_ROW_FORM 44

#ifndef __ASSEMBLER__

#include "runtime/kernels/depthwise_conv2d/channel_vectors.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_VECTOR_ROW_ROWS, ChannelVectorRow, rows);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_VECTOR_ROW_TABLE, ChannelVectorRow, table);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_VECTOR_ROW_OUTPUT, ChannelVectorRow, output);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_VECTOR_ROW_CHANNELS, ChannelVectorRow, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_VECTOR_ROW_OUTPUTS, ChannelVectorRow, outputs);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_VECTOR_ROW_STRIDE, ChannelVectorRow, stride);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_VECTOR_ROW_ZERO_POINT, ChannelVectorRow, zero_point);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_VECTOR_ROW_LEAST, ChannelVectorRow, least);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_VECTOR_ROW_MOST, ChannelVectorRow, most);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_VECTOR_ROW_FORM, ChannelVectorRow, form);
static_assert(channel_vectors::kChannels == 8 && channel_vectors::kTaps == 9 &&
                  channel_vectors::kBlockBytes == 168,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
