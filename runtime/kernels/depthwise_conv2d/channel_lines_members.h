// Where assembly finds the members of ChannelLine.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define CHANNEL_LINE_LINE 0
#define CHANNEL_LINE_OUTPUT 4
#define CHANNEL_LINE_TABLE 8
#define CHANNEL_LINE_CHANNELS 12
#define CHANNEL_LINE_COLUMN_BYTES 16
#define CHANNEL_LINE_FOURS_BYTES 20
#define CHANNEL_LINE_LAST 24
#define CHANNEL_LINE_LIMITED 28
#define CHANNEL_LINE_LEAST 32
#define CHANNEL_LINE_MOST 36
#define CHANNEL_LINE_HALF_STEPS 40
#define CHANNEL_LINE_PAIRS 44
#define CHANNEL_LINE_WEIGHTS 48
#define CHANNEL_LINE_BYTES 52

#ifndef __ASSEMBLER__

#include "runtime/kernels/depthwise_conv2d/channel_lines.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_LINE_LINE, ChannelLine, line);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_LINE_OUTPUT, ChannelLine, output);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_LINE_TABLE, ChannelLine, table);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_LINE_CHANNELS, ChannelLine, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_LINE_COLUMN_BYTES, ChannelLine, column_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_LINE_FOURS_BYTES, ChannelLine, fours_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_LINE_LAST, ChannelLine, last);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_LINE_LIMITED, ChannelLine, limited);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_LINE_LEAST, ChannelLine, least);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_LINE_MOST, ChannelLine, most);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_LINE_HALF_STEPS, ChannelLine, half_steps);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_LINE_PAIRS, ChannelLine, pairs);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_LINE_WEIGHTS, ChannelLine, weights);
static_assert(sizeof(void*) != 4 || sizeof(ChannelLine) == CHANNEL_LINE_BYTES,
              "assembly copies all members");
static_assert(channel_lines::kChannels == 4 && channel_lines::kPairBytes == 8 &&
                  channel_lines::kOutputs == 4 && channel_lines::kEndWords == 2,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
