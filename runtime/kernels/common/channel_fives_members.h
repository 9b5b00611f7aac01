// Where assembly finds the members of ChannelBand.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define CHANNEL_BAND_PLANES 0
#define CHANNEL_BAND_OUTPUT 4
#define CHANNEL_BAND_TABLE 8
#define CHANNEL_BAND_CHANNELS 12
#define CHANNEL_BAND_PLANE_BYTES 16
#define CHANNEL_BAND_ROWS 20
#define CHANNEL_BAND_ROW_BYTES 24
#define CHANNEL_BAND_OUTPUTS 28
#define CHANNEL_BAND_COLUMN_BYTES 32
#define CHANNEL_BAND_TAPS 36
#define CHANNEL_BAND_LINE_BYTES 40
#define CHANNEL_BAND_WEIGHTS 44
#define CHANNEL_BAND_LIMITED 48
#define CHANNEL_BAND_LEAST 52
#define CHANNEL_BAND_MOST 56
#define CHANNEL_BAND_HALF_STEPS 60
#define CHANNEL_BAND_BYTES 64

#ifndef __ASSEMBLER__

#include "runtime/kernels/common/channel_fives.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_PLANES, ChannelBand, planes);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_OUTPUT, ChannelBand, output);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_TABLE, ChannelBand, table);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_CHANNELS, ChannelBand, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_PLANE_BYTES, ChannelBand, plane_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_ROWS, ChannelBand, rows);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_ROW_BYTES, ChannelBand, row_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_OUTPUTS, ChannelBand, outputs);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_COLUMN_BYTES, ChannelBand, column_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_TAPS, ChannelBand, taps);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_LINE_BYTES, ChannelBand, line_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_WEIGHTS, ChannelBand, weights);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_LIMITED, ChannelBand, limited);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_LEAST, ChannelBand, least);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_MOST, ChannelBand, most);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_HALF_STEPS, ChannelBand, half_steps);
static_assert(sizeof(void*) != 4 || sizeof(ChannelBand) == CHANNEL_BAND_BYTES,
              "assembly copies all members");
// int16 has the same members.
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_OUTPUT, ChannelBandOf<std::int16_t>, output);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_BAND_HALF_STEPS, ChannelBandOf<std::int16_t>, half_steps);
static_assert(channel_fives::kTaps == 5 && channel_fives::kOutputs == 4 &&
                  channel_fives::kEndWords == 2,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
